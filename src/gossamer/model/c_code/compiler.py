"""The C compiler of this machine."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gossamer.errors import NotSupportedError, ParameterError

_NAMES: Final = ("cc", "gcc", "clang")
_HINT: Final = "Install gcc or clang, or pass compiler=; to_c() writes the source without one."
# Lines of a compiler's message that an error shows.
_MOST_LINES: Final = 20


def library_suffix() -> str:
    """Return how names of shared libraries end on this system.

    Example:
        >>> library_suffix() in (".so", ".dylib", ".dll")
        True
    """
    return {"darwin": ".dylib", "win32": ".dll", "cygwin": ".dll"}.get(sys.platform, ".so")


def find_compiler(compiler: str | os.PathLike[str] | Sequence[str] | None = None) -> list[str]:
    """Return the command of the C compiler: the one given, $CC, cc, gcc, clang or Python's own.

    Raises:
        ParameterError: If the one given is not there.
        NotSupportedError: If there is none.
    """
    if compiler is not None:
        if isinstance(compiler, str) and shutil.which(compiler) is None:
            command = shlex.split(compiler)
        elif isinstance(compiler, (str, os.PathLike)):
            command = [os.fspath(compiler)]
        else:
            command = [str(word) for word in compiler]
        if not command or shutil.which(command[0]) is None:
            raise ParameterError.because(
                "the compiler was not found", got=compiler, expected="a program", hint=_HINT
            )
        return command
    given = os.environ.get("CC", "")
    for candidate in (given, *_NAMES, str(sysconfig.get_config_var("CC") or "")):
        command = shlex.split(candidate)
        if command and shutil.which(command[0]) is not None:
            return command
    tried = ", ".join(["$CC", *_NAMES])
    raise NotSupportedError.because(f"there is no C compiler (tried {tried})", hint=_HINT)


def compile_library(
    source: Path, library: Path, command: Sequence[str], flags: Sequence[str], name: str
) -> None:
    """Compile a model to a shared library.

    Args:
        source: The C file.
        library: Where the library is written.
        command: The compiler; it must understand the options of gcc.
        flags: The user's options; options that keep the bits follow them.
        name: The name of the model.

    Raises:
        NotSupportedError: If the compiler fails; it says why.
    """
    position = [] if sys.platform in ("win32", "cygwin") else ["-fPIC"]
    whole = [
        *(*command, "-std=c99", *flags, "-ffp-contract=off", "-shared", *position),
        *(f"-D{name}_SHARED", "-o", str(library), str(source), "-lm"),
    ]
    import subprocess  # takes its time

    try:
        done = subprocess.run(whole, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise NotSupportedError.because(
            f"the C compiler cannot be run ({error})", got=shlex.join(whole), hint=_HINT
        ) from None
    if done.returncode == 0 and library.exists():
        return
    lines = (done.stderr or done.stdout).strip().splitlines()[:_MOST_LINES]
    said = "\n".join(lines) or f"exit status {done.returncode}"
    raise NotSupportedError(f"the C compiler failed: {shlex.join(whole)}\n{said}")
