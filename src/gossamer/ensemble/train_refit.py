"""`train_refit`: rows held out say how many rounds are best, then all rows are trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Event
from typing import Any, Final

from gossamer.cv import Feval, FoldMaker, count_rounds, make_folds
from gossamer.data import Dataset
from gossamer.data.dataset import built_data, check_dataset
from gossamer.data.folds import Fold
from gossamer.ensemble.member import Member, MemberTraining, Schedule
from gossamer.ensemble.train_folds import MOST_ROUNDS, check_seconds, patience_of
from gossamer.model import Booster
from gossamer.model.training.memory import fold_memory
from gossamer.params import CANONICAL, resolve
from gossamer.params.given import as_dict
from gossamer.train import Callback, train

# One row in so many is held out.
_PARTS: Final = 7


def train_refit(
    params: Mapping[str, Any] | None,
    train_set: Dataset,
    num_boost_round: int = MOST_ROUNDS,
    feval: Feval = None,
    seed: int = 0,
    callbacks: Sequence[Callback] | None = None,
    time_limit: float | None = None,
) -> Booster:
    """Find the number of rounds with early stopping on held-out rows, then train on all rows.

    One row in seven is held out. Classes keep their shares, and queries are kept whole.

    Args:
        params: Parameters. `num_iterations` in them takes precedence over `num_boost_round`. The
            first training stops after `early_stopping_round` rounds without improvement (default:
            50).
        train_set: The data.
        num_boost_round: Maximum number of rounds.
        feval: Metric functions: (predictions, data) -> (name, value, whether higher is better).
        seed: Seed for choosing the held-out rows.
        callbacks: Functions called before or after each round of the second training.
        time_limit: Time limit in seconds; the first training stops after half of it.

    Returns:
        The model trained on all rows. `best_score["held_out"]` has the metrics of the first
        training on its held-out rows.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(700, 4))
        >>> model = train_refit({"verbose": -1}, Dataset(x, x[:, 0] + rng.normal(size=700)))
        >>> 1 <= model.current_iteration() < 1000, list(model.best_score)
        (True, ['held_out'])
    """
    check_dataset(train_set)
    given = as_dict(params)
    resolved = resolve(given)
    built = built_data(train_set, resolved, for_training=True)
    n_rounds = count_rounds(num_boost_round, resolved)
    quiet = resolved.replace(verbosity=-1)
    fold: Fold = make_folds(built, quiet, None, _PARTS, True, True, seed)[0]
    seconds = None if time_limit is None else check_seconds(time_limit) / 2
    schedule = Schedule(n_rounds, patience_of(resolved), feval, seconds, Event())
    memory = fold_memory(resolved, built, [fold], 1)
    maker = FoldMaker(0, train_set, fold, given, None, None, None, memory)
    found: Member = MemberTraining(maker, schedule, None, _nothing).run()
    n_best = found.model.forest.n_rounds
    fixed = ("early_stopping_round", "num_iterations")
    rest = {name: value for name, value in given.items() if CANONICAL.get(name) not in fixed}
    booster = train({**rest, "num_iterations": n_best}, train_set, feval=feval, callbacks=callbacks)
    scores = {result.metric_name: result.metric_value for result in found.results}
    booster.best_score = {"held_out": scores, **booster.best_score}
    return booster


def _nothing(member: Member) -> None:
    """Do nothing when a member is trained."""
