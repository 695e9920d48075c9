"""Survival: whether rows of higher risk fare worse."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gossamer.data import Targets
from gossamer.objectives import Objective
from gossamer.objectives.survival import signed_times
from gossamer.report.charts import Chart
from gossamer.report.given import Floats
from gossamer.report.html import grid, note, percent

_N_GROUPS: Final = 3


def survival(objective: Objective, targets: Targets, predictions: Any) -> str:
    """Return the share of rows without an event over time, for thirds of the rows by risk."""
    signed = signed_times(targets).astype(np.float64)
    time, is_event = np.abs(signed), signed > 0
    risk = np.asarray(predictions, np.float64)
    if objective.traits.predicts_times:  # the longer, the lower the risk
        risk = -risk
    order = np.argsort(risk, kind="stable")
    groups = [part for part in np.array_split(order, _N_GROUPS) if len(part)]
    names = ("lowest risk", "middle", "highest risk")[-len(groups) :]
    longest = float(time.max()) or 1.0
    told = f"{len(time):,} rows, {percent(float(is_event.mean()))} with an event"
    chart = Chart(
        "Survival by predicted risk",
        (0.0, longest),
        (0.0, 1.0),
        "time",
        "share without event",
        told,
    )
    for i, (name, rows) in enumerate(zip(names, groups, strict=True), 1):
        at, share = survival_curve(time[rows], is_event[rows])
        x = np.append(np.repeat(np.append(0.0, at), 2)[1:], time[rows].max())
        y = np.repeat(np.append(1.0, share), 2)
        chart.line(x, y, i, name=name)
    figure = chart.figure("Kaplan-Meier curves of thirds of the rows, by prediction.")
    remark = ""
    if targets.n_targets == 2:
        remark = note(
            "Labels are intervals: where the end is not known, the start counts as the time until "
            "which nothing was seen."
        )
    return grid([figure]) + note(f"{told}.") + remark


def survival_curve(time: Floats, is_event: Any) -> tuple[Floats, Floats]:
    """Return the times of events, and the share without one after each (Kaplan and Meier).

    Example:
        >>> survival_curve(np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, False, True, False]))
        (array([1., 3.]), array([0.75 , 0.375]))
    """
    at, counts = np.unique(time[is_event], return_counts=True)
    n_at_risk = len(time) - np.searchsorted(np.sort(time), at)
    left = np.cumprod(1.0 - counts / np.maximum(n_at_risk, 1), dtype=np.float64)
    return at, left
