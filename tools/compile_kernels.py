"""Compile the kernels of native/cuda to PTX with NVRTC; no GPU is needed.

The PTX is part of the package (`src/gossamer/cuda/kernels.ptx.gz`), so users need no compiler. Run
`make kernels` after a change of the kernels. NVRTC 12.2 makes PTX that drivers from 535 on can read.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
NATIVE: Final = ROOT / "native"
OUTPUT: Final = ROOT / "src" / "gossamer" / "cuda" / "kernels.ptx.gz"

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
    """Return a hash of everything that the PTX is made of."""
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


def compile_kernels(architecture: str = "compute_75") -> bytes:
    """Return the PTX.

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
    program = do(
        "nvrtcCreateProgram", source, b"kernels.cu", 1, [_CSTDINT.encode()], [b"cstdint"]
    )
    options = [option.encode() for option in (*OPTIONS, f"-arch={architecture}")]
    (result,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if int(result) != 0:
        log = b" " * do("nvrtcGetProgramLogSize", program)
        do("nvrtcGetProgramLog", program, log)
        raise RuntimeError(log.decode())
    ptx = b" " * do("nvrtcGetPTXSize", program)
    do("nvrtcGetPTX", program, ptx)
    return ptx.rstrip(b"\0")


def main() -> int:
    """Compile and write the file."""
    ptx = f"// {fingerprint()}\n".encode() + compile_kernels()
    OUTPUT.write_bytes(gzip.compress(ptx, 9, mtime=0))
    print(f"wrote {OUTPUT.relative_to(ROOT)}: {OUTPUT.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
