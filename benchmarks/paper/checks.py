"""What the results must show: each check has a bound and what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.paper.cases import CASES
from benchmarks.paper.summary import WARM_UP_ROUNDS, Results, Share, mean_gain

DENSE_CASE = "allstate_250k"
SPARSE_CASE = "allstate_1m"
GOSS_CASES = ("allstate_1m", "flights", "higgs_1m")
PEER_CASES = ("flights", "allstate_1m", "news20", "kdd_300k", "kdd_1m")
MIN_OVER_DENSE = 20.0
MIN_OVER_SPARSE = 1.0
MIN_GOSS_SPEED_UP = 1.8
MAX_GOSS_LOSS = 0.001
MIN_OVER_LIGHTGBM = 2.0


@dataclass(frozen=True)
class Check:
    """One thing that must hold.

    Attributes:
        name: What is checked, and on which data.
        bound: What is asked for.
        measured: What was found; "" when it was not run.
        holds: Whether it holds; None when it was not run.
        note: What else a reader wants to know.
    """

    name: str
    bound: str
    measured: str = ""
    holds: bool | None = None
    note: str = ""


def run_checks(results: Results, shares: list[Share]) -> list[Check]:
    """All checks, those that were not run among them."""
    return [
        _over_dense(results),
        _same_model(results),
        _speed_up(results, SPARSE_CASE, "sparse", MIN_OVER_SPARSE),
        *(check for case in GOSS_CASES for check in _goss(results, case)),
        *(check for case in PEER_CASES for check in _beside_lightgbm(results, case)),
        *_goss_over_sgb(shares),
    ]


def _at_least(name: str, bound: float, value: float | None, note: str = "") -> Check:
    if value is None:
        return Check(name, f">= {bound:g}x")
    return Check(name, f">= {bound:g}x", f"{value:.2f}x", value >= bound, note)


def _speed_up(results: Results, case: str, slow: str, bound: float) -> Check:
    ratio = results.speed_up(case, f"gossamer_{slow}", "gossamer_efb")
    peaks = [results.peak_bytes(case, f"gossamer_{mode}") for mode in ("efb", slow)]
    # Equal peaks beside a ratio of 1 would mean that the switch does nothing.
    shown = [f"{peak / 2**20:,.0f}" for peak in peaks if peak is not None]
    note = f"peak {' and '.join(shown)} MiB"
    return _at_least(f"{case}: EFB over {slow}, seconds a round", bound, ratio, note)


def _over_dense(results: Results) -> Check:
    return _speed_up(results, DENSE_CASE, "dense", MIN_OVER_DENSE)


def _same_model(results: Results) -> Check:
    name, bound = f"{DENSE_CASE}: EFB and dense, model files", "same bytes"
    rounds = results.n_rounds(DENSE_CASE, "gossamer_dense")
    dense = results.digest(DENSE_CASE, "gossamer_dense", rounds)
    bundled = results.digest(DENSE_CASE, "gossamer_efb", rounds)
    if dense is None or bundled is None:
        return Check(name, bound)
    same = dense == bundled
    note = f"first {rounds} rounds, less the parameters"
    return Check(name, bound, "same" if same else "they differ", same, note)


def _goss(results: Results, case: str) -> Iterator[Check]:
    plain, goss = "gossamer_efb", "gossamer_efb_goss"
    later = results.speed_up(case, plain, goss, WARM_UP_ROUNDS)
    note = f"{later:.2f}x after the warm-up of {WARM_UP_ROUNDS} rounds" if later else ""
    yield _at_least(
        f"{case}: GOSS over all rows, seconds a round",
        MIN_GOSS_SPEED_UP,
        results.speed_up(case, plain, goss),
        note,
    )
    metric = CASES[case].metric
    name, bound = f"{case}: {metric} of GOSS - of all rows", f">= -{MAX_GOSS_LOSS:g}"
    gain = mean_gain(
        metric, results.scores(case, goss, metric), results.scores(case, plain, metric)
    )
    if gain is None:
        yield Check(name, bound)
        return
    note = f"+- {gain.error:.5f}, {gain.n} seeds" if gain.n > 1 else "1 seed"
    yield Check(name, bound, f"{gain.value:+.5f}", gain.value >= -MAX_GOSS_LOSS, note)


def _beside_lightgbm(results: Results, case: str) -> Iterator[Check]:
    ours, theirs = "gossamer_efb", "lightgbm_efb"
    best = results.best_of(case, theirs)
    yield _at_least(
        f"{case}: training, LightGBM's time / Gossamer's",
        MIN_OVER_LIGHTGBM,
        _ratio(results.train_seconds(case, best), results.train_seconds(case, ours)),
        f"against {best}",
    )
    yield _at_least(
        f"{case}: construction, LightGBM's time / Gossamer's",
        1.0,
        _ratio(results.least("build_seconds", case, theirs), results.build_seconds(case, ours)),
    )
    name, bound = f"{case}: peak memory, Gossamer's / LightGBM's", "<= 1"
    ratio = _ratio(results.peak_bytes(case, ours), results.least("peak_bytes", case, theirs))
    if ratio is None:
        yield Check(name, bound)
    else:
        yield Check(name, bound, f"{ratio:.2f}", ratio <= 1.0, "against its leanest layout")


def _goss_over_sgb(shares: list[Share]) -> Iterator[Check]:
    ours = [s for s in shares if s.library == "gossamer" and s.scores.keys() != {"all"}]
    if not ours:
        yield Check("GOSS - SGB, at every share", ">= 0")
    for case in dict.fromkeys(share.case for share in ours):
        here = [share for share in ours if share.case == case]
        name = f"{case}: {here[0].metric} of GOSS - of SGB, at every share"
        gains = {share.share: share.gain for share in here if share.gain is not None}
        if len(gains) < len(here):
            note = f"only {len(gains)} of {len(here)} shares have both"
            yield Check(name, ">= 0", note=note)
            continue
        worst, gain = min(gains.items(), key=lambda item: item[1].value)
        note = f"the worst of {len(here)} shares, {worst:g}; +- {gain.error:.5f}, {gain.n} seeds"
        yield Check(name, ">= 0", f"{gain.value:+.5f}", gain.value >= 0.0, note)


def _ratio(numerator: float | None, denominator: float | None) -> float | None:
    return numerator / denominator if numerator and denominator else None
