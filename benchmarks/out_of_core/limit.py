"""A limit on the memory of a process, the pages of files that it has read included.

Without it, the system would keep the files of a small benchmark in memory, and no disk would be
measured. It takes a control group, and so the rights of an administrator.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_DROP_CACHES: Final = Path("/proc/sys/vm/drop_caches")
_ROOT: Final = Path("/sys/fs/cgroup")
# The folder of groups, the file with the limit, and the file with the processes.
_KINDS: Final = (
    (_ROOT / "memory", "memory.limit_in_bytes"),
    (_ROOT, "memory.max"),
)


@contextmanager
def limited(n_bytes: int) -> Iterator[Path | None]:
    """Make a control group with so much memory; give the file that takes its processes.

    Yields:
        None where no group can be made.
    """
    for root, name in _KINDS:
        group = root / f"gossamer-benchmark-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / name).write_text(str(n_bytes))
            yield group / "cgroup.procs"
            return
        except FileNotFoundError:
            continue
        finally:
            with suppress(OSError):
                group.rmdir()
    yield None


def drop_caches() -> None:
    """Have the system forget all files that it has in memory; takes the rights of an administrator.

    Raises:
        OSError: Without these rights.
    """
    os.sync()
    _DROP_CACHES.write_text("3")
