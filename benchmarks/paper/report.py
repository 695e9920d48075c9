"""The paper's tables in Markdown, and their places in the documentation page."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.paper.cases import CASES
from benchmarks.paper.checks import run_checks
from benchmarks.paper.summary import (
    WARM_UP_ROUNDS,
    Mean,
    Results,
    Share,
    compare_sampling,
    failed_runs,
    mean_of,
)
from benchmarks.report import make_table

_MIB = 2**20
_NONE = "-"
_ACCURACY_COLUMNS = (
    "xgboost_hist",
    "lightgbm_efb",
    "lightgbm_efb_sgb",
    "lightgbm_efb_goss",
    "gossamer_efb",
    "gossamer_efb_sgb",
    "gossamer_efb_goss",
    "gossamer_efb_goss_auto",
    "gossamer_efb_mvs",
)
_SIZE_COLUMNS = (
    "gossamer_dense",
    "gossamer_sparse",
    "gossamer_efb",
    "lightgbm_efb",
    "xgboost_hist",
)


def format_blocks(
    document: dict[str, Any], sampling: dict[str, Any] | None, at: str = "best"
) -> dict[str, str]:
    """All tables.

    Args:
        document: What ``run`` wrote.
        sampling: What ``goss-vs-sgb`` wrote, if it was run.
        at: Which round of the comparison of GOSS and SGB counts, see `compare_sampling`.

    Returns:
        Name of a block to its Markdown: "machine", "table1" to "table4", "size", "must", "failed".
    """
    results = Results(document)
    shares = compare_sampling(sampling, at) if sampling else []
    return {
        "machine": format_machine(document, results),
        "table1": "\n".join(_table_1(results)),
        "table2": "\n".join([*_table_2_switches(results), "", *_table_2_peers(results)]),
        "table3": "\n".join(_table_3(results)),
        "table4": "\n".join(_table_4(shares, sampling, at)),
        "size": "\n".join(_sizes(results)),
        "must": "\n".join(_must(results, shares)),
        "failed": "\n".join(_failed(document, sampling)),
    }


def format_report(blocks: dict[str, str]) -> str:
    """The tables one after another, with titles."""
    titles = {
        "table1": "Table 1: data sets",
        "table2": "Table 2: seconds a round",
        "table3": "Table 3: accuracy on held-out rows",
        "table4": "Table 4: GOSS and SGB at equal shares",
        "size": "Construction and memory",
        "must": "Must",
        "failed": "Failed runs",
    }
    parts = [blocks["machine"]]
    parts += [f"## {title}\n\n{blocks[name]}" for name, title in titles.items() if blocks[name]]
    return "\n\n".join(parts)


def update_page(page: Path, blocks: dict[str, str], mark: str = "paper") -> list[str]:
    """Puts the blocks into a page, between ``<!-- MARK:NAME -->`` and ``<!-- /MARK:NAME -->``.

    Args:
        page: A Markdown file; changed.
        blocks: Name to Markdown.
        mark: What the page's places begin with.

    Returns:
        Names of blocks that have no place in the page.
    """
    text = page.read_text()
    homeless = []
    for name, block in blocks.items():
        start, end = f"<!-- {mark}:{name} -->", f"<!-- /{mark}:{name} -->"
        before, found, rest = text.partition(start)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            homeless.append(name)
            continue
        text = f"{before}{start}\n\n{block or 'None.'}\n\n{end}{after}"
    page.write_text(text)
    return homeless


def format_machine(document: dict[str, Any], results: Results) -> str:
    """What the figures were measured on and with."""
    machine, settings = document["machine"], document["settings"]
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    busy = results.other_cpus()
    others = f"{median(busy):.2f} CPUs (at most {max(busy):.2f})" if busy else "unknown"
    return (
        f"{machine['cpu']}, {machine['cpus_usable']} CPUs, {machine['memory_gib']} GiB, "
        f"{machine['system']}, Python {machine['python']}, {machine['date'][:10]}, "
        f"commit {machine['commit']}. {versions}. {settings['threads']} threads, "
        f"{settings['num_leaves']} leaves, {settings['rounds']} rounds "
        f"({settings['slow_rounds']} for exact, dense and sparse), rows x {settings['scale']:g}. "
        f"Other processes used {others}."
    )


def _table_1(results: Results) -> list[str]:
    head = [
        "data set",
        "corresponds to",
        "training rows",
        "held-out rows",
        "columns",
        "values in a row",
        "task",
        "metric",
    ]
    body = []
    for name, facts in results.data.items():
        stored = facts["n_stored"] / max(1, facts["n_rows"])
        kind = f"{stored:.1f}" if facts["is_sparse"] else "all"
        classes = f", {facts['n_classes']} classes" if facts["task"] == "multiclass" else ""
        ranked = ", ranked by query" if facts["has_queries"] else ""
        body.append(
            [
                name,
                CASES[name].stands_for or _NONE,
                f"{facts['n_rows']:,}",
                f"{facts['n_test_rows']:,}",
                f"{facts['n_columns']:,}",
                kind,
                facts["task"] + classes + ranked,
                CASES[name].metric,
            ]
        )
    return make_table(head, body)


def _table_2_switches(results: Results) -> list[str]:
    """Gossamer's switches: the paper's xgb_exa, lgb_baseline, EFB_only and LightGBM."""
    modes = ("exact", "dense", "sparse", "efb", "efb_goss")
    exact, dense, sparse, efb, goss = (f"gossamer_{mode}" for mode in modes)
    later = f"GOSS after round {WARM_UP_ROUNDS}"
    head = ["Gossamer", "exact", "dense", "sparse", "EFB", "EFB + GOSS", later]
    head += ["exact / EFB", "dense / EFB", "sparse / EFB", "EFB / GOSS", "EFB / GOSS later"]
    body = []
    for case in results.cases():
        seconds = [results.round_seconds(case, name) for name in (exact, dense, sparse, efb, goss)]
        seconds.append(results.round_seconds(case, goss, WARM_UP_ROUNDS))
        ratios = [
            results.speed_up(case, exact, efb),
            results.speed_up(case, dense, efb),
            results.speed_up(case, sparse, efb),
            results.speed_up(case, efb, goss),
            results.speed_up(case, efb, goss, WARM_UP_ROUNDS),
        ]
        body.append([case, *map(_seconds, seconds), *map(_times, ratios)])
    return make_table(head, body)


def _table_2_peers(results: Results) -> list[str]:
    """The libraries side by side; the fastest layout of LightGBM counts."""
    columns = {
        "XGBoost hist": "xgboost_hist",
        "LightGBM, no EFB": "lightgbm_sparse",
        "LightGBM": "lightgbm_efb",
        "LightGBM GOSS": "lightgbm_efb_goss",
        "Gossamer": "gossamer_efb",
        "Gossamer GOSS": "gossamer_efb_goss",
    }
    head = ["seconds a round", *columns]
    head += ["XGBoost / Gossamer", "LightGBM / Gossamer", "the same, GOSS"]
    body = []
    for case in results.cases():
        best = {title: results.best_of(case, name) for title, name in columns.items()}
        seconds = [results.round_seconds(case, name) for name in best.values()]
        ratios = [
            results.speed_up(case, best["XGBoost hist"], best["Gossamer"]),
            results.speed_up(case, best["LightGBM"], best["Gossamer"]),
            results.speed_up(case, best["LightGBM GOSS"], best["Gossamer GOSS"]),
        ]
        body.append([case, *map(_seconds, seconds), *map(_times, ratios)])
    return make_table(head, body)


def _table_3(results: Results) -> list[str]:
    columns = [
        name
        for name in _ACCURACY_COLUMNS
        if any(results.scores(case, name, CASES[case].metric) for case in results.cases())
    ]
    body = []
    for case in results.cases():
        metrics = [CASES[case].metric]
        if results.data.get(case, {}).get("task") == "multiclass":
            metrics.append("accuracy")
        for metric in metrics:
            cells = []
            for name in columns:
                scores = results.scores(case, name, metric)
                cells.append(_mean(mean_of(scores.values())) if scores else _NONE)
            body.append([case, metric, *cells])
    return make_table(["data set", "metric", *columns], body)


def _table_4(shares: list[Share], sampling: dict[str, Any] | None, at: str) -> list[str]:
    if not shares or sampling is None:
        return []
    ways = list(dict.fromkeys(way for share in shares for way in share.scores if way != "all"))
    head = [
        "data set",
        "library",
        "metric",
        "share",
        *ways,
        "GOSS - SGB",
        "+-",
        "seeds",
        "all rows",
    ]
    everything = {(s.case, s.library): s.scores["all"] for s in shares if "all" in s.scores}
    body = []
    for case, library in dict.fromkeys((share.case, share.library) for share in shares):
        full = everything.get((case, library))
        for share in shares:
            if (share.case, share.library) != (case, library) or share.scores.keys() == {"all"}:
                continue
            cells = [_mean(share.scores[way]) if way in share.scores else _NONE for way in ways]
            gain = share.gain
            cells += (
                [f"{gain.value:+.5f}", _error(gain.error), str(gain.n)] if gain else [_NONE] * 3
            )
            cells.append(_mean(full) if full else _NONE)
            body.append([case, library, share.metric, f"{share.share:g}", *cells])
    which = "the best round of each run" if at == "best" else "the last round"
    top = sampling["settings"]["top_share"]
    note = (
        f"At {which}; GOSS keeps {top:g} of its share for the largest gradients. The difference "
        "is paired by seed (above 0: GOSS is better), and +- is its standard error."
    )
    return [*make_table(head, body), "", note]


def _sizes(results: Results) -> list[str]:
    lines = []
    for title, what in (("construction, s", "build_seconds"), ("peak MiB", "peak_bytes")):
        body = []
        for case in results.cases():
            found = [results.least(what, case, name) for name in _SIZE_COLUMNS]
            if what == "peak_bytes":
                cells = [_NONE if value is None else f"{value / _MIB:,.0f}" for value in found]
            else:
                cells = [_seconds(value) for value in found]
            body.append([case, *cells])
        lines += [*make_table([title, *_SIZE_COLUMNS], body), ""]
    return lines[:-1]


def _must(results: Results, shares: list[Share]) -> list[str]:
    """What was run; figures outside what is expected are in bold."""
    body = [
        [c.name, c.bound, c.measured if c.holds else f"**{c.measured}**", c.note]
        for c in run_checks(results, shares)
        if c.holds is not None
    ]
    return make_table(["comparison", "expected", "measured", "note"], body)


def _failed(*documents: dict[str, Any] | None) -> list[str]:
    """One line for each message, with those who got it."""
    found: dict[tuple[str, str], list[str]] = {}
    for document in documents:
        for run, reason in failed_runs(document) if document else []:
            who = run.get("variant") or f"{run['library']} {run['sampling']} {run['share']:g}"
            cases = found.setdefault((who, reason), [])
            if run["case"] not in cases:
                cases.append(run["case"])
    return [f"- {who} on {', '.join(cases)}: {error}" for (who, error), cases in found.items()]


def _seconds(value: float | None) -> str:
    if value is None:
        return _NONE
    return f"{value:.3f}" if value >= 1.0 else f"{value:.4f}"


def _times(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2f}"


def _mean(value: Mean) -> str:
    return f"{value.value:.5f} {_error(value.deviation)}".strip() if value.n else _NONE


def _error(value: float) -> str:
    if math.isnan(value):
        return ""
    return f"± {value:.0e}".replace("e-0", "e-") if value else "± 0"
