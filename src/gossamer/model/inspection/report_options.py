"""`ReportOptions`: what `Booster.report` and `gossamer.report.write_report` take by name."""

from __future__ import annotations

from typing import Any, TypedDict


class ReportOptions(TypedDict, total=False):
    """Options of a report.

    Attributes:
        group: For ranking: the rows of each query.
        query: For ranking, instead of `group`: the id of its query for each row.
        evals_result: What `record_evaluation` filled during training, or what `cv` returned.
        title: Heading of the page.
        class_names: Names of the classes, in the order of their numbers.
        num_iteration: Number of rounds, as for `predict`.
        max_rows: Rows of the data that are looked at, chosen at random if there are more; 100,000
            by default.
        n_features: Columns whose partial dependence is drawn; 6 by default.
        trees: Numbers of the trees that can be explored; None: the first ones that fit.
        target: What is predicted, for the top of the page.
        source: Where the rows come from, for the top of the page.
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
