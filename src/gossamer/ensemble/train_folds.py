"""`train_folds`: one model that is the average of a member for each fold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from threading import Event, Lock
from typing import Any, Final

import numpy as np

from gossamer.arguments import as_list, check_flags
from gossamer.callbacks import CallbackEnv
from gossamer.callbacks.log import prints_metrics
from gossamer.callbacks.progress import automatic_progress
from gossamer.cv import Feval, FoldMaker, check_callbacks, count_rounds, count_threads
from gossamer.data import Dataset
from gossamer.data.built import BuiltData
from gossamer.data.dataset import built_data, check_dataset
from gossamer.data.folds import Fold
from gossamer.data.labels.row_fields import check_fields
from gossamer.ensemble.choose_folds import FoldOptions, choose_folds
from gossamer.ensemble.member import Member, MemberTraining, Schedule
from gossamer.errors import ParameterError
from gossamer.logger import show
from gossamer.metrics import EvalResult, make_metrics
from gossamer.metrics.custom import evaluate_custom
from gossamer.model import Booster
from gossamer.model.ensemble.average import average_models
from gossamer.model.ensemble.calibrate import calibrate, check_method
from gossamer.model.ensemble.fold_record import FoldRecord
from gossamer.model.model import Model
from gossamer.model.training.memory import fold_memory
from gossamer.objectives import make_objective
from gossamer.objectives.binary import as_zero_one
from gossamer.params import CANONICAL, TABLE, Params, resolve, warn_of_unused
from gossamer.params.given import as_dict
from gossamer.params.traits import Kind
from gossamer.side_by_side import SideBySide, plan_stretches
from gossamer.train import Callback, close_callbacks

# Rounds without improvement after which a member stops, where the user does not say.
PATIENCE: Final = 50
# Most rounds of a member, where the user does not say.
MOST_ROUNDS: Final = 1000
# What is drawn at random in a round; members draw different things.
_SEEDS: Final = ("bagging_seed", "feature_fraction_seed", "extra_seed", "drop_seed")

# What all members have in common, apart from the bins.
_SHARED: Final = (
    *("objective", "num_class", "quantile_alpha", "metric", "num_iterations", "num_parallel_tree"),
    *("early_stopping_round", "early_stopping_min_delta", "first_metric_only", "multi_strategy"),
)


@check_flags
def train_folds(
    params: Mapping[str, Any] | None,
    train_set: Dataset,
    num_boost_round: int = MOST_ROUNDS,
    folds: Iterable[tuple[Any, Any]] | Any = None,
    nfold: int = 8,
    stratified: bool = True,
    shuffle: bool = True,
    groups: Any = None,
    time: Any = None,
    repeats: int = 1,
    feval: Feval = None,
    seed: int = 0,
    members: Sequence[Mapping[str, Any]] | None = None,
    callbacks: Sequence[Callback] | None = None,
    time_limit: float | None = None,
    calibration: str | None = None,
) -> Booster:
    """Train one model per fold, each with early stopping on its held-out rows, and average them.

    The table is binned once, and folds are trained in parallel if that is faster. The result is a
    model like any other: its raw scores are the means of the members' raw scores. In addition, it
    stores what its members predicted for rows that they were not trained on.

    Args:
        params: Parameters. `num_iterations` in them takes precedence over `num_boost_round`. A
            member stops after `early_stopping_round` rounds without improvement on its held-out
            rows. The default is 50; 0 means never.
        train_set: The data.
        num_boost_round: Maximum number of rounds of each member.
        folds: Pairs of (training rows, held-out rows), or a scikit-learn splitter.
        nfold: Number of folds if `folds` is not given.
        stratified: Whether every fold gets its share of each class, if labels are classes.
        shuffle: Whether rows are assigned at random, or folds are consecutive rows.
        groups: The group of each row, such as a patient. The rows of a group are held out together.
        time: The time of each row, or True if rows are in time order. Members hold out rows that
            come after those they are trained on. Every member is trained on at least the first half
            of the rows.
        repeats: How often rows are divided into folds, each time differently. There are `nfold *
            repeats` members.
        feval: Metric functions: (predictions, data) -> (name, value, whether higher is better).
        seed: Seed of the folds.
        members: Parameters in which members differ from `params`. The first entry is for the first
            fold, and so on; after the last, the first is used again. They cannot change the bins.
        callbacks: Functions called after each fold, such as `progress_bar()`. `iteration` is the
            number of completed folds, and the metrics belong to the fold. In a terminal or a
            notebook, a progress bar is shown if training takes longer.
        time_limit: Time limit in seconds for all members together. Members that would take longer
            stop earlier.
        calibration: For the objectives `binary` and `multiclass`: how probabilities are corrected
            so that they fit the held-out rows. "temperature" multiplies raw scores by a factor,
            "sigmoid" uses a factor and a shift for each class, and "isotonic" any increasing
            function. Raw scores do not change.

    Returns:
        The average of the members. `oof_prediction()` returns the out-of-fold predictions,
        `oof_score_` the metrics over all held-out rows, and `oof_score_by_fold_` the metrics of
        each member.

    Raises:
        GossamerError: If data, parameters or folds cannot be used.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(600, 3))
        >>> data = Dataset(x, x[:, 0] + 0.1 * rng.normal(size=600) > 0)
        >>> model = train_folds({"objective": "binary", "metric": "auc"}, data, 100, nfold=4)
        >>> model.oof_prediction().shape, model.oof_score_["auc"] > 0.97
        ((600,), True)
        >>> len(model.oof_score_by_fold_["auc"])
        4
    """
    check_dataset(train_set)
    given = as_dict(params)
    resolved = resolve(given)
    warn_of_unused(given)
    after = as_list("callbacks", callbacks)
    check_callbacks(after, "train_folds()")
    after += automatic_progress(after, resolved.verbosity, "fold")
    options = FoldOptions(folds, nfold, stratified, shuffle, groups, time, repeats, seed)
    # Once for all folds: they take rows of what is binned here.
    built = built_data(train_set, resolved, for_training=True)
    objective = make_objective(resolved, built.targets, train_set).for_prediction()
    if calibration is not None:
        check_method(calibration, objective)
    parts = choose_folds(built, resolved, options)
    own = _member_params(members, resolved, len(parts))
    makers = [
        FoldMaker(i, train_set, fold, {**_without(given, own[i]), **own[i]}, None, None, None)
        for i, fold in enumerate(parts)
    ]
    # What a user wrote is called from the thread that called us, for one fold after the other.
    is_ours = feval is None and not callable(resolved.objective)
    n_rounds = count_rounds(num_boost_round, resolved)
    n_threads = count_threads(makers, resolved, n_rounds) if is_ours else 1
    stretches = plan_stretches(len(makers), n_threads)
    widest = max(stretch.width for stretch in stretches)
    memory = fold_memory(resolved, built, parts, widest)
    makers = [replace(maker, max_memory=memory) for maker in makers]
    limits = [stretch.n_threads for stretch in stretches for _ in range(stretch.n_jobs)]
    n_waves = sum(-(-stretch.n_jobs // stretch.width) for stretch in stretches)
    schedule = Schedule(
        n_rounds,
        patience_of(resolved),
        feval,
        None if time_limit is None else check_seconds(time_limit) / n_waves,
        Event(),
    )
    report = _AfterFold(after, given, len(makers))
    jobs = [
        MemberTraining(maker, schedule, limits[i] if is_ours else None, report)
        for i, maker in enumerate(makers)
    ]
    try:
        with SideBySide(stretches) as team:
            try:
                trained = team.run([job.run for job in jobs])
            except BaseException:  # Ctrl-C while this thread waits for the others
                schedule.is_over.set()
                raise
    finally:
        close_callbacks(after)
    record = _make_record(built, parts, trained, own)
    overall = _score_all(resolved, built, train_set, record, feval)
    record = replace(record, **_match_metrics(overall, trained))
    models = [member.model for member in trained]
    model = average_models(models, _kept(trained, resolved), objective)
    model = replace(model, folds=record)
    if calibration is not None:
        model = calibrate(model, calibration)
    booster = _as_booster(trained[0].booster, model, given)
    if prints_metrics(resolved):
        rounds = np.diff(record.round_begin)
        values = ", ".join(f"{name} {value:.6g}" for name, value in record.metrics.items())
        show(f"Trained {len(trained)} folds of {rounds.min()} to {rounds.max()} rounds: {values}")
    return booster


class _AfterFold:
    """Calls callbacks when a fold is done, one at a time."""

    def __init__(self, callbacks: list[Callback], params: dict[str, Any], n_folds: int) -> None:
        self._callbacks, self._params, self._n_folds = callbacks, params, n_folds
        self._lock, self._n_done = Lock(), 0

    def __call__(self, member: Member) -> None:
        with self._lock:
            env = CallbackEnv(
                member.booster, self._params, self._n_done, 0, self._n_folds, member.results
            )
            self._n_done += 1
            for callback in self._callbacks:
                callback(env)


def patience_of(params: Params) -> int:
    """Return the rounds without improvement after which a member stops; 0: it never does.

    Example:
        >>> patience_of(resolve({})), patience_of(resolve({"early_stopping_round": 5}))
        (50, 5)
    """
    is_given = "early_stopping_round" in params.given
    return max(params.early_stopping_round, 0) if is_given else PATIENCE


def check_seconds(time_limit: Any) -> float:
    """Return a time limit as a number of seconds.

    Raises:
        ParameterError: If it is not a number above 0.

    Example:
        >>> check_seconds(60)
        60.0
    """
    is_number = isinstance(time_limit, int | float) and not isinstance(time_limit, bool)
    if not is_number or not time_limit > 0:
        raise ParameterError.because(
            "time_limit cannot be used", got=time_limit, expected="a number of seconds > 0"
        )
    return float(min(time_limit, 1e18))  # a whole number may be larger than any float


def _without(given: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a member does not change, by whatever name they were given."""
    return {name: value for name, value in given.items() if CANONICAL.get(name) not in changed}


def _member_params(
    members: Sequence[Mapping[str, Any]] | None, params: Params, n_members: int
) -> list[dict[str, Any]]:
    """For each member the parameters in which it differs, by canonical name; seeds among them."""
    given: list[Mapping[str, Any]] = as_list("members", members) or [{}]
    kinds = [resolve(as_dict(each)).to_dict(given_only=True) for each in given]
    fixed = sorted({n for each in kinds for n in each if TABLE[n].bins or n in _SHARED})
    if fixed:
        raise ParameterError.because(
            "members must share bins, objective, metrics and number of rounds",
            found=f"members with {', '.join(fixed)}",
            hint="Pass these in params, for all members.",
        )
    found = []
    for i in range(n_members):
        own = dict(kinds[i % len(kinds)])
        whole = params.replace(**own)
        draws = _draws_at_random(whole)
        seeds = {name: getattr(whole, name) + i for name in _SEEDS if name not in own}
        found.append({**own, **(seeds if draws and i > 0 else {})})
    return found


def _draws_at_random(params: Params) -> bool:
    """Whether the seeds make a difference."""
    shares = (
        *(params.bagging_fraction, params.pos_bagging_fraction, params.neg_bagging_fraction),
        *(params.feature_fraction, params.feature_fraction_bynode, params.feature_fraction_bylevel),
    )
    return (
        min(shares) < 1
        or params.extra_trees
        or params.boosting != "gbdt"
        or params.data_sample_strategy != "bagging"
    )


def _make_record(
    built: BuiltData,
    parts: Sequence[Fold],
    trained: Sequence[Member],
    own: Sequence[Mapping[str, Any]],
) -> FoldRecord:
    """Put together what the members know about the rows that they held out."""
    objective, targets = trained[0].model.objective, built.targets
    n_outputs = objective.n_outputs
    if objective.traits.kind is Kind.BINARY:
        targets = as_zero_one(targets)  # the record has classes
    rounds = [member.model.forest.n_rounds for member in trained]
    held_out = [member.held_out.reshape(n_outputs, -1) for member in trained]
    return FoldRecord(
        np.cumsum([0, *rounds], dtype=np.int64),
        np.stack([member.model.start for member in trained]),
        np.cumsum([0, *(len(fold.test) for fold in parts)], dtype=np.int64),
        np.concatenate([fold.test for fold in parts]).astype(np.uint32),
        np.concatenate(held_out, axis=1),
        targets.label.reshape(targets.n_targets, -1),
        targets.weight,
        member_params=tuple(own),
        has_init_score=built.rows.init_score is not None,
        has_queries=built.rows.group is not None,
    )


def _score_all(
    params: Params, built: BuiltData, data: Dataset, record: FoldRecord, feval: Feval
) -> dict[str, float]:
    """Evaluate all rows that were held out together."""
    scores = record.mean_scores()
    rows = np.flatnonzero(np.isfinite(scores[0]))
    fields = built.rows
    if len(rows) < built.n_rows:
        fields, _ = check_fields(built.rows.take(rows), len(rows), built.n_columns)
        if feval is not None:  # a function asks for labels
            data = data.subset(rows).construct()
    targets = fields.targets
    assert targets is not None
    objective = make_objective(params, targets, data)
    score = np.ascontiguousarray(scores[:, rows]).ravel()
    found = {
        metric.name: metric.evaluate(score, targets, objective)
        for metric in make_metrics(params, objective, targets.n_targets)
    }
    if feval is not None:
        predictions = objective.to_predictions(score.copy(), 1)
        results: list[EvalResult] = evaluate_custom(feval, predictions, data, "oof")
        found |= {result.metric_name: result.metric_value for result in results}
    return found


def _match_metrics(overall: Mapping[str, float], trained: Sequence[Member]) -> dict[str, Any]:
    """Return `metrics` and `by_member` of a record, with the same names in both.

    A function of the user may return other metrics for some rows, such as one for each class that
    is among them. Their values are NaN elsewhere.
    """
    each = [{r.metric_name: r.metric_value for r in member.results} for member in trained]
    names = list(dict.fromkeys(name for found in (*each, overall) for name in found))
    return {
        "metrics": {name: overall.get(name, np.nan) for name in dict.fromkeys([*overall, *names])},
        "by_member": {name: [found.get(name, np.nan) for found in each] for name in names},
    }


def _kept(trained: Sequence[Member], params: Params) -> dict[str, Any]:
    """The parameters that the model keeps: what all members share, the data set's included."""
    return {**trained[0].model.params, **params.to_dict(given_only=True)}


def _as_booster(booster: Booster, model: Model, given: dict[str, Any]) -> Booster:
    """Let the booster of a member become the ensemble's."""
    assert model.folds is not None
    booster.model = model
    booster.params = {**booster.params, **given}
    booster.best_iteration = -1
    booster.best_score = {"oof": dict(model.folds.metrics)}
    booster.eval_history = {}
    return booster
