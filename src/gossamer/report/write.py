"""`write_report`: from a model to a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gossamer.arguments import as_path
from gossamer.errors import ParameterError
from gossamer.files import write_atomically
from gossamer.report.gather import gather
from gossamer.report.page import make_page

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from gossamer.model.inspection.report_options import ReportOptions

_DEFAULTS: Final[dict[str, Any]] = {
    **dict.fromkeys(("group", "query", "evals_result", "title", "class_names", "trees")),
    "num_iteration": None,
    "max_rows": 100_000,
    "n_features": 6,
}


def write_report(
    booster: Any,
    path: str | os.PathLike[str] | None = None,
    data: Any = None,
    label: Any = None,
    **options: Unpack[ReportOptions],
) -> Path | ReportPage:
    """Write a self-contained HTML page about a model (docs/report.md).

    Args:
        booster: A `Booster` or a fitted estimator. For an estimator, recorded metrics and class
            names are used too.
        path: The file to write. An existing file is replaced in one step. None writes no file and
            returns the page, which notebooks show.
        data: Rows to explain and to predict, as for `predict`, or a `Dataset` that has kept its raw
            data. Use rows that the model was not trained on if you can.
        label: Their labels, as for `Dataset`; for an estimator, as for `fit`.
        **options: `title`, `class_names`, `num_iteration` and others; see `ReportOptions`.

    Returns:
        The path of the file, or the page if no path is given.

    Raises:
        GossamerError: As for `Booster.report`.

    Example:
        >>> import tempfile
        >>> import gossamer as gs
        >>> x = [[0.0], [1.0]] * 30
        >>> model = gs.train({"verbose": -1}, gs.Dataset(x, [0.0, 1.0] * 30), 5)
        >>> write_report(model, Path(tempfile.mkdtemp(), "report.html"), x).name
        'report.html'
    """
    file = None if path is None else _check_path(path)
    page = ReportPage(make_page(gather(booster, data, label, **{**_DEFAULTS, **options})))
    return page if file is None else page.save(file)


@dataclass(frozen=True)
class ReportPage:
    """A page about a model, which notebooks show.

    Attributes:
        html: The page.
    """

    html: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file.

        Returns:
            The path of the file.
        """
        file = _check_path(path)
        write_atomically(file, self.html.encode("utf-8"))
        return file

    def __repr__(self) -> str:
        return f"<ReportPage: {len(self.html):,} characters; save(path) writes it>"

    def _repr_html_(self) -> str:
        # In a frame, so that the styles of the page and of the notebook stay apart.
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" '
            'style="width: 100%; height: 48rem; border: 1px solid #ccc"></iframe>'
        )


def _check_path(path: object) -> Path:
    """Find out before the work whether the file can be written."""
    expected = "the path of a file, such as 'report.html'"
    if not isinstance(path, (str, os.PathLike)) or not (found := os.fspath(path)):
        raise ParameterError.because("the path cannot be used", got=path, expected=expected)
    target = as_path(os.fsdecode(found))
    if target.is_dir():
        raise ParameterError.because("the path is a folder", got=str(target), expected=expected)
    if not target.absolute().parent.is_dir():
        raise ParameterError.because(
            "there is no such folder",
            got=str(target.parent),
            expected=expected,
            hint="Make the folder first.",
        )
    return target
