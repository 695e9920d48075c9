"""Every parameter of the public functions with odd values: errors of ours, or a result."""

from __future__ import annotations

import contextlib
import io
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest
from attack.conftest import Tally
from attack.every_argument import GROUPS, ODD, Odd, fresh, plots_and_exports, ways
from attack.scale import share

from gossamer import GossamerError

N_PARTS = share(1, 4)  # that run side by side


def is_allowed(error: Exception, value: object) -> bool:
    """Whether an error is not from the inside of the package.

    scikit-learn checks the arguments of estimators, and matplotlib what is drawn, in words of their
    own.
    """
    if isinstance(error, GossamerError):
        return 10 < len(str(error)) < 3000
    if isinstance(error, OSError):  # a file that is not there
        return isinstance(value, (str, bytes))
    if isinstance(value, Odd) and str(error) == "no text":  # what the object itself raised
        return True
    called = ""  # by us
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if "/gossamer/" in frame.filename:
            break
        called = frame.filename
    kinds = (TypeError, ValueError, OverflowError)
    return isinstance(error, kinds) and any(
        name in called for name in ("/sklearn/", "/matplotlib/")
    )


@pytest.mark.parametrize("part", range(N_PARTS))
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_odd_values(
    group: object, part: int, tally: Tally, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if group is plots_and_exports:
        pytest.importorskip("matplotlib.pyplot").switch_backend("Agg")
    monkeypatch.setattr("attack.every_argument.GROUPS", (group,))
    calls = [(*way, value) for way in ways() for value in ODD]
    chosen = np.random.default_rng(0).permutation(len(calls))[: share(200, len(calls))]
    for place in chosen[part::N_PARTS]:
        name, function, good, parameter, value = calls[place]
        text = "Odd()" if isinstance(value, Odd) else ascii(value)[:60]
        with (
            tally.run(f"{name}({parameter}={text})"),
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            try:
                function(**{**fresh(good), parameter: value})
            except Exception as error:
                if not is_allowed(error, value):
                    raise
            finally:
                if "matplotlib.pyplot" in sys.modules:
                    sys.modules["matplotlib.pyplot"].close("all")
