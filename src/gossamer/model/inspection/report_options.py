"""`ReportOptions`: what `Booster.report` and `gossamer.report.write_report` take by name."""

from __future__ import annotations

from typing import Any, TypedDict


class ReportOptions(TypedDict, total=False):
    """Options of a report.

    Attributes:
        group: For ranking: the number of rows of each query.
        query: For ranking, instead of `group`: the id of the query of each row.
        evals_result: The dict that `record_evaluation` filled during training, or the result of
            `cv`.
        title: Heading of the page.
        class_names: Names of the classes, in the order of their numbers.
        num_iteration: Number of rounds, as for `predict`.
        max_rows: Maximum number of rows to use, sampled at random if there are more; 100,000 by
            default.
        n_features: Number of columns whose partial dependence is drawn; 6 by default.
        trees: Numbers of the trees that can be explored; None means the first ones that fit.
        target: Name of the target, for the top of the page.
        source: Where the rows come from, for the top of the page.
        is_training: Whether the model was trained on these rows, which the page then says. None
            means to find out, which works unless trees were grown from samples of the rows.
    """

    group: Any
    query: Any
    evals_result: Any
    title: str | None
    class_names: Any
    num_iteration: int | None
    max_rows: int
    n_features: int
    trees: Any
    target: str | None
    source: str | None
    is_training: bool | None
