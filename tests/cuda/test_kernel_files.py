"""The compiled kernels of the package belong to the source."""

from __future__ import annotations

import gzip
from importlib.resources import files

import pytest

from tools import compile_kernels


def test_the_kernels_were_compiled_from_this_source() -> None:
    found = files("gossamer.cuda").joinpath("kernels.sha256").read_text(encoding="ascii").strip()
    assert found == compile_kernels.fingerprint(), "run: make kernels"


@pytest.mark.parametrize("name", compile_kernels.ARCHITECTURES.values())
def test_every_kernel_is_in_each_file(name: str) -> None:
    code = gzip.decompress(files("gossamer.cuda").joinpath(name).read_bytes())
    source = (compile_kernels.NATIVE / "cuda" / "kernels.cu").read_text(encoding="utf-8")
    kernels = [
        line.split("(")[1].split(",")[0]
        for line in source.splitlines()
        if "GOSSAMER_KERNEL(" in line
    ]
    assert len(kernels) > 10
    for kernel in kernels:
        assert kernel.encode() in code


def test_nvrtc_compiles_the_source() -> None:
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC is not installed")
    try:
        nvrtc.nvrtcVersion()
    except RuntimeError:
        pytest.skip("NVRTC is not installed")
    assert b"choose" in compile_kernels.compile_kernels("compute_75")
