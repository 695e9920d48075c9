"""Compile the kernels of native/cuda with NVRTC; no GPU is needed.

What comes out is part of the package (`src/gossamer/cuda/kernels.*`), so users need no compiler.
Run `make kernels` after a change of the kernels. NVRTC 12.2 makes code for drivers from 535 on.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
NATIVE: Final = ROOT / "native"
FOLDER: Final = ROOT / "src" / "gossamer" / "cuda"

# Machine code for the GPUs of two generations, which loads at once; PTX for all others, which the
# driver translates when it first meets it.
ARCHITECTURES: Final = {
    "sm_80": "kernels.sm_80.gz",
    "sm_90": "kernels.sm_90.gz",
    "compute_75": "kernels.ptx.gz",
}

# NVRTC has no standard library; this is all that the shared headers need of it.
_CSTDINT: Final = """#pragma once
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
namespace std {
using ::int8_t; using ::uint8_t; using ::int16_t; using ::uint16_t;
using ::int32_t; using ::uint32_t; using ::int64_t; using ::uint64_t;
}
"""

# Results must have the bits of the host's: no contraction, IEEE division and roots, no flushing of
# small numbers to zero. Functions without a mark run on the device.
OPTIONS: Final = (
    "-std=c++20",
    "-default-device",
    "--fmad=false",
    "-prec-div=true",
    "-prec-sqrt=true",
    "-ftz=false",
    f"-I{NATIVE}",
)


def fingerprint() -> str:
    """Return a hash of everything that the compiled kernels are made of."""
    found = hashlib.sha256()
    paths = [
        *NATIVE.glob("cuda/*"),
        *NATIVE.glob("kernels/*.inl"),
        *NATIVE.glob("kernels/*.h"),
        NATIVE / "core" / "types.h",
        NATIVE / "core" / "random.h",
        Path(__file__),
    ]
    for path in sorted(paths):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def compile_kernels(architecture: str) -> bytes:
    """Return PTX ("compute_75" and the like) or machine code ("sm_90").

    Raises:
        RuntimeError: If NVRTC refuses the source; the message has its log.
    """
    from cuda.bindings import nvrtc

    def do(name: str, *args: Any) -> Any:
        result, *values = getattr(nvrtc, name)(*args)
        if int(result) != 0:
            raise RuntimeError(f"{name}: {result}")
        return values[0] if values else None

    source = (NATIVE / "cuda" / "kernels.cu").read_bytes()
    program = do("nvrtcCreateProgram", source, b"kernels.cu", 1, [_CSTDINT.encode()], [b"cstdint"])
    options = [option.encode() for option in (*OPTIONS, f"-arch={architecture}")]
    (result,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if int(result) != 0:
        log = b" " * do("nvrtcGetProgramLogSize", program)
        do("nvrtcGetProgramLog", program, log)
        raise RuntimeError(log.decode())
    kind = "PTX" if architecture.startswith("compute") else "CUBIN"
    code = b" " * do(f"nvrtcGet{kind}Size", program)
    do(f"nvrtcGet{kind}", program, code)
    return code


def main() -> int:
    """Compile, and write one file for each architecture."""
    for architecture, name in ARCHITECTURES.items():
        path = FOLDER / name
        path.write_bytes(gzip.compress(compile_kernels(architecture), 9, mtime=0))
        print(f"wrote {path.relative_to(ROOT)}: {path.stat().st_size} bytes")
    (FOLDER / "kernels.sha256").write_text(fingerprint() + "\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
