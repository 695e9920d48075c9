"""Models as C: the same bits, in this process and in programs of others."""

from __future__ import annotations

import copy
import pickle
import platform
import shutil
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gossamer import (
    Booster,
    CustomObjective,
    DataError,
    Dataset,
    NotSupportedError,
    ParameterError,
    train,
)
from gossamer.errors import GossamerError
from gossamer.model.c_code import c_source
from gossamer.model.c_code.compiler import find_compiler, library_suffix
from gossamer.model.c_code.links import make_link
from gossamer.model.c_code.text import in_comment, string
from gossamer.objectives import objective_from_config
from gossamer.objectives.registry import OBJECTIVES

GCC = shutil.which("gcc")
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="there is no C compiler")
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(400, 4))
TABLE[:, 2] = RNG.integers(0, 80, 400)
TABLE[RNG.random(TABLE.shape) < 0.1] = np.nan
TABLE[RNG.random(TABLE.shape) < 0.1] = 0.0
LABEL = np.nan_to_num(TABLE[:, 0] - TABLE[:, 1] + np.sin(7 * TABLE[:, 2]))
CLASSES = np.digitize(LABEL, [-1, 1])
POSITIVE = np.abs(LABEL) + 0.5
BASE = {"min_data_in_leaf": 3, "verbose": -1, "num_threads": 1, "num_leaves": 12}


def custom(link: Any, n_outputs: int = 1) -> CustomObjective:
    def gradients(score: Any, data: Any) -> tuple[Any, Any]:
        label = data.get_label()
        if n_outputs > 1:
            label = np.repeat(label[:, None], n_outputs, axis=1) + np.arange(n_outputs)
        return score - label, np.ones_like(score)

    return CustomObjective(gradients, link=link)


CATEGORIES = {"categorical_feature": [2], "cat_target_statistics": "off"}
MODELS: dict[str, tuple[dict[str, Any], Any]] = {
    "regression": ({}, LABEL),
    "no missing": ({"use_missing": False}, LABEL),
    "zero as missing": ({"zero_as_missing": True}, LABEL),
    "categories": (CATEGORIES, LABEL),
    "categories, zero as missing": ({**CATEGORIES, "zero_as_missing": True}, LABEL),
    "categories, no missing": ({**CATEGORIES, "use_missing": False}, LABEL),
    "categories, sets": ({**CATEGORIES, "max_cat_to_onehot": 1, "cat_smooth": 0.1}, CLASSES),
    "statistics": ({"categorical_feature": [2], "cat_target_statistics": "on"}, LABEL),
    "statistics of two": ({"categorical_feature": [2, 3], "cat_target_statistics": "on"}, LABEL),
    "linear": ({"linear_tree": True}, LABEL),
    "rf": ({"boosting": "rf", "bagging_fraction": 0.7, "bagging_freq": 1}, LABEL),
    "dart": ({"boosting": "dart"}, LABEL),
    "stumps": ({"num_leaves": 2}, LABEL),
    "constant": ({"min_data_in_leaf": 1000}, LABEL),
    "parallel": ({"num_parallel_tree": 3}, LABEL),
    "vector": ({"multi_strategy": "multi_output_tree"}, np.column_stack([LABEL, -LABEL])),
    "several": ({"objective": "binary"}, np.column_stack([LABEL > 0, LABEL > 1])),
    "several poisson": ({"objective": "poisson"}, np.column_stack([POSITIVE, POSITIVE**2])),
    "binary": ({"objective": "binary", "sigmoid": 0.7}, LABEL > 0),
    "logitraw": ({"objective": "binary:logitraw"}, LABEL > 0),
    "multiclass": ({"objective": "multiclass", "num_class": 3}, CLASSES),
    "multi:softmax": ({"objective": "multi:softmax", "num_class": 3}, CLASSES),
    "multiclassova": ({"objective": "multiclassova", "num_class": 3, "sigmoid": 1.3}, CLASSES),
    "cross_entropy": ({"objective": "cross_entropy"}, LABEL > 0),
    "cross_entropy_lambda": ({"objective": "cross_entropy_lambda"}, LABEL > 0),
    "focal": ({"objective": "focal"}, LABEL > 0),
    "hinge": ({"objective": "hinge"}, LABEL > 0),
    "poisson": ({"objective": "poisson"}, POSITIVE),
    "gamma": ({"objective": "gamma"}, POSITIVE),
    "tweedie": ({"objective": "tweedie"}, POSITIVE),
    "squared_log_error": ({"objective": "squared_log_error"}, POSITIVE),
    "reg_sqrt": ({"reg_sqrt": True}, LABEL),
    "quantiles": ({"objective": "quantile", "quantile_alpha": [0.1, 0.5, 0.9]}, LABEL),
    "gaussian": ({"objective": "gaussian"}, LABEL),
    "cox": ({"objective": "cox"}, POSITIVE),
    "aft": ({"objective": "aft"}, POSITIVE),
    "link exp": ({"objective": custom("exp")}, LABEL),
    "link softplus": ({"objective": custom("softplus")}, LABEL),
    "link sigmoid": ({"objective": custom("sigmoid")}, LABEL),
    "link softmax": ({"objective": custom("softmax", 3), "num_class": 3}, LABEL),
    "link function": ({"objective": custom(np.cbrt)}, LABEL),
}


@cache
def booster(kind: str) -> Booster:
    params, label = MODELS[kind]
    columns = {name: params[name] for name in params if name == "categorical_feature"}
    others = {name: params[name] for name in params if name not in columns}
    data = Dataset(TABLE if not columns else whole(TABLE), label, **columns)
    return train({**BASE, **others}, data, 9)


@cache
def compiled(kind: str) -> Any:
    return booster(kind).compile()


def whole(table: Any) -> Any:
    """A table whose last two columns can be categories."""
    table = table.copy()
    table[:, 3] = np.abs(np.round(table[:, 3] * 4))
    return table


def same_bits(found: Any, expected: Any) -> None:
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_array_equal(found.view(np.uint64), expected.view(np.uint64))


def check(kind: str, table: Any) -> None:
    for raw_score in (True, False):
        expected = booster(kind).predict(table, raw_score=raw_score)
        same_bits(compiled(kind).predict(table, raw_score=raw_score), expected)


HARD = [0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e-35, -1e-35, 1.1e-35, 1e-300, 1e300, -1e300]
HARD += [np.inf, -np.inf, np.nan, -0.5, -0.49999999999999994, 0.5, 1.5, 2.5, 7.4, 7.6, -1.0, -3.0]
HARD += [31.0, 32.0, 33.0, 63.0, 64.0, 79.0, 80.0, 1e9, 2147483647.0, 2147483648.0, 1e18]


@needs_compiler
@pytest.mark.parametrize("kind", list(MODELS))
class TestSameBits:
    def test_rows_of_training(self, kind: str) -> None:
        for n_rows in (1, 3, 4, 7, 8, 127, 130, 400):
            check(kind, TABLE[:n_rows])

    def test_hard_values(self, kind: str) -> None:
        # Every hard value in every column, the others at random.
        rows = [row.copy() for value in HARD for row in TABLE[:12]]
        for i, row in enumerate(rows):
            row[i % 4] = HARD[i // 12]
        check(kind, np.array(rows))
        with np.errstate(over="ignore"):
            check(kind, np.array(rows).astype(np.float32))

    def test_thresholds_and_what_is_beside_them(self, kind: str) -> None:
        arrays = booster(kind).model.forest.arrays
        mine = arrays["column"] < 4
        column, threshold = arrays["column"][mine][:150], arrays["threshold"][mine][:150]
        rows = np.tile(TABLE[:1], (3 * len(column), 1))
        for i, (c, value) in enumerate(zip(column, threshold, strict=True)):
            rows[3 * i : 3 * i + 3, c] = np.nextafter(value, -np.inf), value, np.nextafter(value, 9)
        check(kind, rows if len(rows) else TABLE[:2])


number = st.one_of(st.sampled_from(HARD), st.floats(width=64), st.integers(-3, 90).map(float))


@needs_compiler
@pytest.mark.parametrize(
    "kind", ["regression", "zero as missing", "categories, sets", "statistics of two", "linear"]
)
@settings(max_examples=40)
@given(
    rows=st.lists(st.lists(number, min_size=4, max_size=4), min_size=1, max_size=70),
    is_f32=st.booleans(),
)
def test_any_rows(kind: str, rows: list[list[float]], is_f32: bool) -> None:
    with np.errstate(over="ignore"):
        check(kind, np.array(rows, dtype=np.float32 if is_f32 else np.float64))


@needs_compiler
class TestTables:
    def test_of_all_kinds(self) -> None:
        table = np.nan_to_num(TABLE)
        for data in (
            TABLE[::-2, :],
            np.asfortranarray(TABLE),
            TABLE[:, ::-1],
            np.broadcast_to(TABLE[0], (9, 4)),
            (10 * table).astype(np.int32),
            table > 0,
            table.astype(np.float16),
            table.astype(">f8"),
            TABLE.tolist(),
            sparse.csr_matrix(table),
            sparse.csc_array(table.astype(np.float32)),
            np.empty((0, 4)),
            np.frombuffer(b"\0" + table.tobytes(), np.uint8)[1:].view(np.float64).reshape(-1, 4),
        ):
            check("regression", data)

    def test_many_rows_on_threads(self) -> None:
        table = RNG.normal(size=(70_000, 4))
        expected = booster("multiclass").predict(table)
        for n_threads in (1, 2, 3):
            same_bits(compiled("multiclass").predict(table, num_threads=n_threads), expected)

    def test_of_frames_by_name_and_with_text(self) -> None:
        pd = pytest.importorskip("pandas")
        city = np.array(["Bern", "Oslo", "*/ int x;", 'a"\\b??/'])[RNG.integers(0, 4, 300)]
        frame = pd.DataFrame({"city": city, "x": RNG.normal(size=300)})
        label = (frame["city"] == "Oslo") * 3.0 + frame["x"]
        model = train(BASE, Dataset(frame, label), 9)
        quick = model.compile()
        new = frame[["x", "city"]].head(9).copy()
        new.loc[3, "city"], new.loc[4, "city"] = "Nowhere", None
        same_bits(quick.predict(new), model.predict(new))
        with pytest.raises(DataError, match="city"):
            quick.predict(frame[["x"]])
        source = model.to_c()
        assert " *   0: <2a><2f> int x<3b>\n *   1: Bern\n" in source

    @pytest.mark.parametrize("bad", [np.zeros((2, 5)), np.zeros((2, 3)), [[1, 2]]])
    def test_that_do_not_fit_get_the_errors_of_predict(self, bad: Any) -> None:
        with pytest.raises(GossamerError) as expected:
            booster("regression").predict(bad)
        with pytest.raises(type(expected.value)) as found:
            compiled("regression").predict(bad)
        assert str(found.value) == str(expected.value)

    def test_files_are_read_by_predict_of_the_booster_only(self) -> None:
        with pytest.raises(GossamerError, match=r"only predict\(\) reads files: got 'file.csv'"):
            compiled("regression").predict("file.csv")

    def test_where_there_is_no_room_for_several_rows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for kind in ("multiclass", "categories, sets", "linear"):
            for room in (8, 160):
                monkeypatch.setattr("gossamer.model.c_code.source._BLOCK_DOUBLES", room)
                assert ("#define m_BLOCK 1\n" in booster(kind).to_c(name="m")) == (room == 8)
                with booster(kind).compile() as quick:
                    same_bits(quick.predict(TABLE), booster(kind).predict(TABLE))

    @pytest.mark.parametrize("kind", ["link exp", "link softplus"])
    def test_links_of_numpy_in_c_are_as_near_as_the_c_library(self, kind: str) -> None:
        assert "the last bits may differ" in booster(kind).to_c(header=True)
        rows, out = np.ascontiguousarray(TABLE), np.empty(len(TABLE))
        link = compiled(kind)._functions[False, False]
        link(rows.ctypes.data, len(rows), 4, out.ctypes.data)
        np.testing.assert_array_max_ulp(out, booster(kind).predict(TABLE), 2)


@needs_compiler
class TestRounds:
    @pytest.mark.parametrize("kind", ["regression", "rf", "multiclass", "categories, sets"])
    @pytest.mark.parametrize(("first", "n"), [(0, 3), (2, 3), (4, 0), (9, 1), (0, 99)])
    def test_as_asked_for(self, kind: str, first: int, n: int) -> None:
        with booster(kind).compile(start_iteration=first, num_iteration=n) as quick:
            expected = booster(kind).predict(TABLE, start_iteration=first, num_iteration=n)
            same_bits(quick.predict(TABLE), expected)

    def test_up_to_the_best(self) -> None:
        model = copy.deepcopy(booster("regression"))
        model.best_iteration = 4
        same_bits(model.compile().predict(TABLE), model.predict(TABLE, num_iteration=4))

    @pytest.mark.parametrize("first", [-1, 10])
    def test_that_are_not_there(self, first: int) -> None:
        with pytest.raises(ParameterError, match="start_iteration is out of range"):
            booster("regression").to_c(start_iteration=first)

    @pytest.mark.parametrize("name", ["start_iteration", "num_iteration"])
    def test_that_are_no_numbers(self, name: str) -> None:
        with pytest.raises(ParameterError, match=f"{name} is not a whole number"):
            booster("regression").compile(**{name: "3"})

    def test_threads_that_are_no_number(self) -> None:
        with pytest.raises(ParameterError, match="num_threads is not a whole number"):
            compiled("regression").predict(TABLE, num_threads=1.5)


class TestSource:
    def test_file_and_header(self, tmp_path: Path) -> None:
        model = booster("binary")
        text = model.to_c(tmp_path / "m.c", name="risk")
        header = model.to_c(tmp_path / "m.h", name="risk", header=True)
        assert (tmp_path / "m.c").read_text() == text and (tmp_path / "m.h").read_text() == header
        assert text.startswith(header) and "void risk_predict(const double* row" in header
        assert "MODEL" not in text and "@" not in text and text.isascii()

    @pytest.mark.parametrize(
        "name", ["", "1a", "a-b", "a b", "a;", "ä", "_a", "a__b", "a\n", 3, None, "x*/"]
    )
    def test_names_that_c_does_not_have(self, name: Any) -> None:
        for call in (booster("regression").to_c, booster("regression").compile):
            with pytest.raises(ParameterError, match="name cannot begin"):
                call(name=name)

    def test_a_tree_that_is_too_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gossamer.model.c_code.trees._CHILD_BITS", 3)
        with pytest.raises(NotSupportedError, match="too large for C code"):
            booster("regression").to_c()

    def test_a_link_of_pythons_has_no_predictions_in_c(self) -> None:
        header = booster("link function").to_c(header=True)
        assert "gossamer_model_predict(" not in header
        assert "gossamer_model_predict_raw(" in header and "function of Python's" in header

    def test_every_objective_is_known(self) -> None:
        extra = {"num_class": 3, "sigmoid": 1.0, "alphas": [0.1, 0.9], "link": None, "floor": -9.0}
        extra |= {"objective": "regression", "distribution": "normal", "scale": 1.0}
        for name in OBJECTIVES:
            link = make_link(objective_from_config({**extra, "name": name}))
            assert link.body is not None and link.is_exact, name

    @given(st.text(max_size=40))
    def test_text_of_users(self, text: str) -> None:
        written = string(text)[1:-1]
        assert '"' not in written and "?" not in written and written.isascii()
        parts = iter(written.split("\\"))
        decoded = next(parts).encode()
        for part in parts:
            decoded += bytes([int(part[:3], 8)]) + part[3:].encode()
        assert decoded == text.encode("utf-8", "surrogatepass")
        assert not set(in_comment(text)) & set('*/?\\"\n')


NASTY = ['a"b', "a\\", "*/ int main(void) {", "??/", "ü\n", "%s\0", "MODEL", "@N_COLUMNS@", "0"]

MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "risk.h"

int main(void) {
  double row[risk_n_columns], out[risk_n_predictions], raw[risk_n_outputs];
  char word[64];
  int i;
  for (;;) {
    for (i = 0; i < risk_n_columns; ++i) {
      if (scanf("%63s", word) != 1) return strcmp(risk_column_name(0), "Column_0") != 0;
      row[i] = strtod(word, NULL);
    }
    risk_predict_raw(row, raw);
    risk_predict(row, out);
    for (i = 0; i < risk_n_outputs; ++i) printf("%a ", raw[i]);
    for (i = 0; i < risk_n_predictions; ++i) printf("%a ", out[i]);
    printf("\n");
  }
}
"""


def run(*command: Any, text: str = "") -> str:
    whole = [str(word) for word in command]
    done = subprocess.run(whole, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def embed(kind: str, folder: Path, flags: list[str], compiler: str) -> None:
    """Build a program around a model, and compare what it says."""
    booster(kind).to_c(folder / "risk.c", name="risk")
    booster(kind).to_c(folder / "risk.h", name="risk", header=True)
    (folder / "main.c").write_text(MAIN)
    program = folder / "program"
    run(compiler, *flags, folder / "risk.c", folder / "main.c", "-o", program, "-lm")
    rows = TABLE[:40].copy()
    rows[:30, 0], rows[5:35, 2] = HARD[:30], HARD[:30]
    said = run(program, text="\n".join(" ".join(x.hex() for x in row) for row in rows.tolist()))
    found = np.array([[float.fromhex(x) for x in line.split()] for line in said.splitlines()])
    raw, linked = (booster(kind).predict(rows, raw_score=is_raw) for is_raw in (True, False))
    same_bits(found, np.column_stack([raw, linked]))


@needs_compiler
class TestPrograms:
    @pytest.mark.parametrize("compiler", COMPILERS)
    @pytest.mark.parametrize("kind", ["binary", "multiclass", "linear", "vector", "statistics"])
    def test_a_model_in_a_program(self, kind: str, compiler: str, tmp_path: Path) -> None:
        embed(kind, tmp_path, ["-std=c99", "-O2", *STRICT], compiler)

    @pytest.mark.skipif(not GCC, reason="there is no gcc")
    @pytest.mark.parametrize(
        "kind", ["categories, sets", "statistics of two", "linear", "multiclass", "gaussian"]
    )
    def test_with_sanitizers(self, kind: str, tmp_path: Path) -> None:
        flags = ["-std=c99", "-g", "-O1", "-fsanitize=address,undefined", "-static-libasan"]
        flags += ["-fno-sanitize-recover=all", "-ffp-contract=off"]
        try:
            (tmp_path / "empty.c").write_text("int main(void) { return 0; }\n")
            run("gcc", *flags, tmp_path / "empty.c", "-o", tmp_path / "empty")
            run(tmp_path / "empty")
        except AssertionError:
            pytest.skip("gcc has no sanitizers here")
        embed(kind, tmp_path, flags, "gcc")

    @pytest.mark.parametrize("kind", list(MODELS))
    def test_without_warnings(self, kind: str, tmp_path: Path) -> None:
        source = tmp_path / "model.c"
        booster(kind).to_c(source)
        for compiler in COMPILERS:
            run(compiler, "-std=c99", *STRICT, "-O1", "-c", source, "-o", tmp_path / "model.o")

    @pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")
    @pytest.mark.parametrize(
        "kind", ["categories, sets", "statistics", "linear", "vector", "gaussian"]
    )
    def test_as_cpp(self, kind: str, tmp_path: Path) -> None:
        booster(kind).to_c(tmp_path / "risk.cpp", name="risk")
        booster(kind).to_c(tmp_path / "risk.h", name="risk", header=True)
        (tmp_path / "main.c").write_text(MAIN)
        made, program = tmp_path / "risk.o", tmp_path / "program"
        run("g++", "-std=c++17", *STRICT, "-O1", "-c", tmp_path / "risk.cpp", "-o", made)
        run(COMPILERS[0], tmp_path / "main.c", made, "-o", program, "-lm")  # C finds its functions
        run(program)

    @pytest.mark.skipif(platform.machine() != "x86_64" or not GCC, reason="it is about x86")
    @pytest.mark.parametrize("kind", ["binary", "linear", "cross_entropy_lambda"])
    def test_where_the_compiler_would_fuse_operations(self, kind: str, tmp_path: Path) -> None:
        if " fma " not in Path("/proc/cpuinfo").read_text():
            pytest.skip("the processor fuses nothing")
        flags = ["-std=gnu99", "-O3", "-mfma", "-ffp-contract=fast"]
        embed(kind, tmp_path, flags, "gcc")
        # The test can fail: without the line in the source there are fused operations.
        bare = tmp_path / "bare.c"
        bare.write_text((tmp_path / "risk.c").read_text().replace("#pragma GCC optimize", "//"))
        for source, is_fused in ((tmp_path / "risk.c", False), (bare, True)):
            code = run("gcc", "-std=gnu99", *flags[1:], "-S", source, "-o", "-")
            assert ("vfm" in code or "vfnm" in code) == is_fused

    def test_nasty_names_of_columns(self, tmp_path: Path) -> None:
        names = [*NASTY, "x" * 4000]
        table = RNG.normal(size=(60, len(names)))
        model = train(BASE, Dataset(table, table[:, 0], feature_name=names), 3)
        model.to_c(tmp_path / "m.c", name="m")
        model.to_c(tmp_path / "m.h", name="m", header=True)
        (tmp_path / "main.c").write_text(
            '#include <stdio.h>\n#include "m.h"\nint main(void) {\n  int i;\n'
            '  for (i = -1; i <= m_n_columns; ++i) printf("%s|", m_column_name(i) ? '
            'm_column_name(i) : "none");\n  return 0;\n}\n'
        )
        program = tmp_path / "program"
        run(
            *(COMPILERS[0], "-std=c99", *STRICT, tmp_path / "m.c", tmp_path / "main.c"),
            *("-lm", "-o", program),
        )
        said = run(program).split("|")[:-1]
        assert said == ["none", *(name.partition("\0")[0] for name in names), "none"]
        with model.compile() as quick:
            same_bits(quick.predict(table), model.predict(table))

    def test_fast_math_is_refused(self) -> None:
        with pytest.raises(NotSupportedError, match="compile without -ffast-math"):
            booster("regression").compile(flags=["-O3", "-ffast-math"])


@needs_compiler
class TestLibrary:
    @pytest.mark.parametrize("path", ["a\0b", "\ud800", b"model.so", 5])
    def test_paths_that_cannot_be_used(self, path: Any) -> None:
        with pytest.raises(ParameterError, match=r"no file can have this name|path cannot be used"):
            booster("regression").compile(path)

    def test_temporary_files_go_with_the_object(self) -> None:
        quick = booster("regression").compile()
        path = quick.path
        assert path.exists() and path.suffix == library_suffix()
        assert [file.name for file in path.parent.iterdir()] == [path.name]
        del quick
        assert not path.parent.exists()

    def test_closed(self) -> None:
        with booster("regression").compile() as quick:
            quick.predict(TABLE)
        assert not quick.path.exists()
        with pytest.raises(GossamerError, match="was closed"):
            quick.predict(TABLE)
        quick.close()

    def test_kept_and_replaced_while_it_is_in_use(self, tmp_path: Path) -> None:
        path = tmp_path / f"model{library_suffix()}"
        first = booster("regression").compile(path)
        second = booster("binary").compile(path)
        assert first.path == second.path == path and path.exists()
        same_bits(first.predict(TABLE), booster("regression").predict(TABLE))
        same_bits(second.predict(TABLE), booster("binary").predict(TABLE))
        second.close()
        assert path.exists() and list(tmp_path.iterdir()) == [path]

    def test_two_models_beside_each_other(self) -> None:
        for kind in ("regression", "poisson", "multiclass"):
            check(kind, TABLE)
        check("regression", TABLE)

    def test_many_threads_while_training_goes_on(self) -> None:
        model = Booster(BASE, Dataset(TABLE, LABEL))
        for _ in range(5):
            model.update()
        quick, expected = model.compile(), model.predict(TABLE)
        wrong: list[int] = []

        def ask() -> None:
            for _ in range(50):
                if quick.predict(TABLE, num_threads=1).tobytes() != expected.tobytes():
                    wrong.append(1)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            model.update()
        for thread in threads:
            thread.join()
        assert not wrong and model.predict(TABLE).tobytes() != expected.tobytes()

    @pytest.mark.parametrize("change", [pickle.dumps, copy.copy, copy.deepcopy])
    def test_no_pickles_and_no_copies(self, change: Any) -> None:
        with pytest.raises(NotSupportedError, match="cannot be pickled or copied"):
            change(compiled("regression"))

    def test_symbols_by_another_name(self) -> None:
        with booster("regression").compile(name="price") as quick:
            assert quick.path.stem == "price"
            same_bits(quick.predict(TABLE), booster("regression").predict(TABLE))


class TestCompiler:
    def test_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "")
        monkeypatch.delenv("CC", raising=False)
        monkeypatch.setattr("sysconfig.get_config_var", lambda name: None)
        with pytest.raises(NotSupportedError, match=r"no C compiler .* Install gcc or clang"):
            booster("regression").compile()

    @pytest.mark.parametrize("given", ["no-such-compiler", "/no/such", ["no-such", "-m64"], "", []])
    def test_one_that_is_not_there(self, given: Any) -> None:
        with pytest.raises(ParameterError, match="the compiler was not found"):
            booster("regression").compile(compiler=given)

    def test_of_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CC", f"{sys.executable} -m some_compiler")
        assert find_compiler() == [sys.executable, "-m", "some_compiler"]
        assert find_compiler(Path(sys.executable)) == [sys.executable]
        assert find_compiler(f"{sys.executable} -O") == [sys.executable, "-O"]

    @needs_compiler
    def test_one_that_fails(self) -> None:
        with pytest.raises(NotSupportedError, match=r"(?s)compiler failed: .*no-such-option"):
            booster("regression").compile(flags=["-fno-such-option"])

    def test_one_that_does_nothing(self) -> None:
        command = [sys.executable, "-c", "import sys; sys.exit(3)"]
        with pytest.raises(NotSupportedError, match="exit status 3"):
            booster("regression").compile(compiler=command)

    def test_one_that_writes_no_library(self) -> None:
        script = "import sys; open(sys.argv[sys.argv.index('-o') + 1], 'w').write('x')"
        with pytest.raises(NotSupportedError, match="cannot be loaded"):
            booster("regression").compile(compiler=[sys.executable, "-c", script])

    def test_flags_that_are_no_list(self) -> None:
        with pytest.raises(ParameterError, match="flags is not a list"):
            booster("regression").compile(flags="-O2")

    @pytest.mark.parametrize(
        ("system", "suffix"), [("linux", ".so"), ("darwin", ".dylib"), ("win32", ".dll")]
    )
    def test_names_of_libraries(
        self, system: str, suffix: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "platform", system)
        assert library_suffix() == suffix


def test_the_same_model_is_the_same_text() -> None:
    model = booster("categories, sets").model
    assert c_source(model) == c_source(model)
