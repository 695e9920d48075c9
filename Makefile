# Every target does its own set-up in $(VENV) and leaves a stamp, so that a second run starts at once.
# A fresh machine needs GNU make, Python >= 3.10 and a C++20 compiler; cmake and ninja come from pip.
#
#   make test PYTHON=python3.12      another Python
#   make test PYTEST_ARGS="-k bins"  some of the Python tests, on one core
#   make test PYTEST_ARGS='-n auto -m "not slow"'

PYTHON ?= python3
VENV ?= .venv
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PYTEST_ARGS ?= -n auto --dist worksteal
BENCH_ARGS ?=
FUZZ_FILES ?= 50000
STRESS_SCHEDULES ?= 200
ATTACK_SCALE ?= 1

BIN := $(VENV)/bin
# One folder of stamps per version of Python: another PYTHON makes a new environment.
PYTHON_VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
STAMPS := $(VENV)/stamps/$(PYTHON_VERSION)
BEGAN := $(shell date +%s)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
export PATH := $(abspath $(BIN)):$(PATH)

# What the module is made of: a change reinstalls it (ninja recompiles what changed).
MODULE_SOURCES := pyproject.toml CMakeLists.txt \
  $(shell find native/core native/kernels native/cuda native/bindings -type f 2>/dev/null)
# What clang-format looks after.
CXX_SOURCES = $(shell find native -path native/third_party -prune -o -type f \
  \( -name '*.cpp' -o -name '*.h' -o -name '*.inl' -o -name '*.cu' \) -print)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-native test-portable test-aarch64 test-gpu kernels lint format stubs bench sanitize sanitize-python attack fuzz stress docs figures notebooks wheel clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---- set-up ----

# An environment made by hand is kept, unless it belongs to another version of Python.
$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	  || { echo 'Python >= 3.10 is needed: make PYTHON=...'; exit 1; }
	@found=$$($(BIN)/python -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true); \
	if [ "$$found" != "$(PYTHON_VERSION)" ]; then $(PYTHON) -m venv --clear $(VENV); fi
	@mkdir -p $(STAMPS) && touch $@

# The build requirements of pyproject.toml, and the build tools.
$(STAMPS)/build: $(STAMPS)/venv pyproject.toml
	sed -n 's/^requires = \[\(.*\)\]$$/\1/p' pyproject.toml | tr ',' '\n' | xargs $(PIP) cmake ninja
	@touch $@

# The first `make demo` compiles kernels for this processor only; what follows compiles those of the others, too.
KERNELS := $(if $(wildcard $(STAMPS)/levels)$(filter-out demo,$(MAKECMDGOALS)),all,local)
# Without build isolation: the build folder stays valid, so a rebuild compiles only what changed.
# Without compiling to bytecode: Python compiles a module when it is first imported, and few are.
install_module = $(PIP) --no-compile --no-build-isolation --no-deps --config-settings=cmake.define.GOSSAMER_KERNELS=$(1) --editable .

# The packages that it needs are installed while it compiles, and imported once, which compiles them to bytecode.
$(STAMPS)/package: $(STAMPS)/build $(MODULE_SOURCES)
	@echo 'Compiling the native module and installing packages. This takes one to two minutes on two cores, the first time only.'
	@date +%s > $(STAMPS)/begin
	@$(BIN)/python tools/requirements.py sklearn plot progress files > $(STAMPS)/requirements
	{ $(PIP) --no-compile --requirement $(STAMPS)/requirements && \
	  $(BIN)/python -c 'import matplotlib.pyplot, sklearn.datasets, sklearn.model_selection'; } & packages=$$!; \
	  $(call install_module,$(KERNELS)) && wait $$packages
	@echo "Done in $$(( $$(date +%s) - $$(cat $(STAMPS)/begin) )) seconds."
	@echo $(KERNELS) > $@

$(STAMPS)/levels: $(STAMPS)/package
	@grep -q all $< || { echo 'Compiling the kernels for other processors.'; $(call install_module,all); }
	@echo all > $<
	@touch $@

# gossamer itself is there already: these add what the extra asks for.
$(STAMPS)/test $(STAMPS)/lint $(STAMPS)/docs: $(STAMPS)/%: $(STAMPS)/levels
	$(PIP) 'gossamer[$*]'
	@touch $@

$(STAMPS)/bench: $(STAMPS)/levels benchmarks/requirements.txt
	$(PIP) --requirement benchmarks/requirements.txt
	@touch $@

# ---- for users ----

demo: $(STAMPS)/package ## build, then train on a small data set and show what came out
	$(BIN)/gossamer demo

bench: $(STAMPS)/bench ## quick benchmark against the other libraries (ten minutes at most)
	$(BIN)/python -m benchmarks run --quick $(BENCH_ARGS)

# ---- for developers ----

test: test-native $(STAMPS)/test ## native tests at every kernel level, then pytest
	GOSSAMER_TESTS_BEGAN=$(BEGAN) $(BIN)/python -m pytest $(PYTEST_ARGS)

test-native: $(STAMPS)/build ## native tests alone
	$(call build_native_tests,build/native,)
	$(call run_native_tests,build/native)

test-portable: $(STAMPS)/build ## native tests with the kernels that processors other than x86-64 have
	$(call build_native_tests,build/portable,,-DGOSSAMER_KERNELS=generic)
	$(call run_native_tests,build/portable)

test-aarch64: $(STAMPS)/build ## native tests for aarch64 under qemu (Debian: apt-get install g++-aarch64-linux-gnu qemu-user)
	$(call build_native_tests,build/aarch64,,-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
	  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
	  "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64;-L;/usr/aarch64-linux-gnu")
	$(call run_native_tests,build/aarch64)

test-gpu: $(STAMPS)/test ## the tests of trainings on a GPU, on the GPU of this machine
	GOSSAMER_TEST_GPU=1 $(BIN)/python -m pytest -p no:cacheprovider tests/cuda

kernels: $(STAMPS)/venv ## compile the kernels of the GPU again; no GPU is needed
	$(PYTHON) -m venv $(VENV)/kernels
	$(VENV)/kernels/bin/python -m pip install --quiet --disable-pip-version-check \
	  'cuda-bindings==12.9.0' 'nvidia-cuda-nvrtc-cu12==12.2.140'
	$(VENV)/kernels/bin/python tools/compile_kernels.py

lint: $(STAMPS)/lint $(STAMPS)/test ## ruff, mypy, clang-format, and whether the stubs are current
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CXX_SOURCES)
	$(call write_stubs,build/stubs/_native.pyi)
	diff -u src/gossamer/_native.pyi build/stubs/_native.pyi || { echo 'run: make stubs'; exit 1; }

format: $(STAMPS)/lint ## format Python and C++
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_SOURCES)

stubs: $(STAMPS)/lint ## write again what is generated: the native module's stubs, the fields and the page of parameters
	$(call write_stubs,src/gossamer/_native.pyi)
	$(BIN)/python -m gossamer.params.write_fields src/gossamer/params/param_fields.py
	$(BIN)/python -m gossamer.params.markdown docs/parameters.md

# Without address randomization: TSan's memory map does not fit everywhere with it.
sanitize: $(STAMPS)/build ## native tests under ASan and UBSan, then under TSan
	$(call build_native_tests,build/sanitize-address,address$(comma)undefined)
	ASAN_OPTIONS=detect_stack_use_after_return=0 UBSAN_OPTIONS=print_stacktrace=1 $(call run_native_tests,build/sanitize-address)
	$(call build_native_tests,build/sanitize-thread,thread)
	setarch $$(uname -m) -R $(call run_native_tests,build/sanitize-thread)

# A tenth of it, or some of it:
#   make attack ATTACK_SCALE=0.1 PYTEST_ARGS="-n 4 -k kills"
attack: $(STAMPS)/test ## all attacks of tests/attack, with a table of runs and failures at the end
	ATTACK_SCALE=$(ATTACK_SCALE) $(BIN)/python -m pytest tests/attack -o faulthandler_timeout=0 $(PYTEST_ARGS)

fuzz: $(STAMPS)/test ## mutated files of every format, FUZZ_FILES of them, under ASan and UBSan
	$(call build_with_sanitizers,build/fuzz,address$(comma)undefined)
	$(python_with_asan) tests/attack/mutated_files.py $(FUZZ_FILES) --processes $(JOBS)

sanitize-python: $(STAMPS)/test ## the Python tests of training under ASan and UBSan
	$(call build_with_sanitizers,build/fuzz,address$(comma)undefined)
	$(python_with_asan) -m pytest -p no:cacheprovider tests/train

stress: $(STAMPS)/test ## Python threads that use one model and one data set at once, under TSan
	$(call build_with_sanitizers,build/stress,thread)
	$(python_with_tsan) tests/attack/thread_stress.py $(STRESS_SCHEDULES)

docs: $(STAMPS)/docs ## the documentation site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

figures: $(STAMPS)/levels ## draw the figures of the site again, in docs/assets/
	$(BIN)/python docs/figures/draw.py

notebooks: $(STAMPS)/venv ## write examples/notebooks/ again from the scripts
	$(BIN)/python tools/make_notebooks.py

# In a build folder of its own, with build isolation, installed where nothing else is.
wheel: $(STAMPS)/venv ## build a wheel, install it into an empty environment, try it
	rm -rf dist build/smoke
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist \
	  --config-settings build-dir=build/wheel .
	$(PYTHON) -m venv build/smoke
	build/smoke/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cp tests/smoke.py build/smoke/smoke.py
	cd build/smoke && bin/python -I smoke.py
	@ls -l dist

clean: ## remove everything that was built, the environment too
	rm -rf build dist site $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

comma := ,

# folder, sanitizers, other options of cmake
define build_native_tests
	$(BIN)/cmake -S . -B $(1) -G Ninja -DGOSSAMER_MODULE=OFF -DGOSSAMER_TESTS=ON -DGOSSAMER_SANITIZE=$(2) $(3) >/dev/null
	$(BIN)/cmake --build $(1) --parallel $(JOBS) -- --quiet
endef

# folder
run_native_tests = $(BIN)/ctest --test-dir $(1) --parallel $(JOBS) --output-on-failure --no-tests=error

# folder, sanitizers: the package with a native module that is built with these. The environment's own
# Python would find the installed package first, so its packages are given to the one that it was made from.
define build_with_sanitizers
	$(BIN)/cmake -S . -B $(1) -G Ninja -DGOSSAMER_SANITIZE=$(2) \
	  -DPython_EXECUTABLE=$(abspath $(BIN))/python \
	  -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) >/dev/null
	$(BIN)/cmake --build $(1) --target _native --parallel $(JOBS) -- --quiet
	rm -rf $(1)/package && mkdir -p $(1)/package
	cp -r src/gossamer $(1)/package/
	rm -f $(1)/package/gossamer/_native*.so
	cp $(1)/_native*.so $(1)/package/gossamer/
endef

# libraries, folder
define python_with
	LD_PRELOAD=$(1) \
	  PYTHONPATH=$(abspath $(2)/package):$(abspath tests):$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
	  $$($(BIN)/python -c 'import sys; print(sys._base_executable)') -s
endef

python_with_asan = ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0 UBSAN_OPTIONS=print_stacktrace=1 \
  $(call python_with,$$($(CXX) -print-file-name=libasan.so):$$($(CXX) -print-file-name=libstdc++.so),build/fuzz)

# Only what the module itself does is watched: NumPy and the interpreter are not built for it.
python_with_tsan = TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1 setarch $$(uname -m) -R env \
  $(call python_with,$$($(CXX) -print-file-name=libtsan.so),build/stress)

# file
define write_stubs
	@mkdir -p $(dir $(1))
	$(BIN)/python -m nanobind.stubgen --quiet --module gossamer._native --output-file $(1)
	$(BIN)/ruff check --quiet --fix-only $(1)
	$(BIN)/ruff format --quiet $(1)
endef
