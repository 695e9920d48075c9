"""What happens in a round of a `Training`: one by one, or several in one native call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gossamer.model.training.one_at_a_time import one_at_a_time

if TYPE_CHECKING:
    from gossamer.model.training.training import Training

# Rounds of small tables take so little time that several are done in one native call.
_CELLS_IN_ONE_CALL: Final = 1_000_000
_MOST_ROUNDS_IN_ONE_CALL: Final = 128


@one_at_a_time
def train_round(training: Training) -> bool:
    """See `Training.train_round`."""
    if training.is_stale:
        training.replay()
    n_trees, n_states = len(training.trees), len(training.states)
    is_started, start = training.is_started, training.start.copy()
    mark = training.boosting.mark()
    try:
        is_finished = _do_round(training)
        training.train.check_contents()
    except BaseException:
        del training.trees[n_trees:], training.states[n_states:]
        training.is_started, training.start, training.is_stale = is_started, start, True
        training.boosting.back_to(mark)
        training.train.check_contents()  # explains errors that lost numbers led to
        raise
    return is_finished


def _do_round(training: Training) -> bool:
    if not training.is_started:
        training.add_start()
    train, prepared, n_round = training.train, training.prepared, training.n_rounds
    params, boosting, state = training.params, training.boosting, training.states[-1]
    if training.base is not None:  # random choices go on where the model's ended
        n_round += training.base.model.forest.n_rounds
    objective = training.objective.for_round(n_round, state)
    trees = prepared.grow_on_device(params, boosting, objective, train, n_round)
    if trees is None and boosting.adds_trees:
        trees = prepared.grow_rounds(params, objective, train, 1)
    if trees is None:
        scores = boosting.begin_round(training, n_round)
        targets, gradients = prepared.targets, prepared.gradients
        objective.fill_gradients(scores.at, targets, gradients, train.n_threads)
        state = objective.next_state(state, targets, gradients)
        trees = prepared.grow(params, train, n_round, scores.into)
    return end_round(training, trees, state)


@one_at_a_time
def train_rounds(training: Training, n_rounds: int) -> bool:
    """See `Training.train_rounds`."""
    if training.is_stale:
        training.replay()
    n_rounds = min(n_rounds, _most_rounds(training))
    is_plain = training.is_started and not training.valid and training.boosting.adds_trees
    if n_rounds <= 1 or not is_plain:
        return train_round(training)
    n_trees, n_states, state = len(training.trees), len(training.states), training.states[-1]
    try:
        objective = training.objective.for_round(training.n_rounds, state)
        prepared = training.prepared
        trees = prepared.grow_rounds(training.params, objective, training.train, n_rounds)
        if trees is None:
            return train_round(training)
        # The call ends after a round that something may be wrong with: only the last can be one.
        last = len(trees) - training.trees_per_round
        training.trees += trees[:last]
        training.states += [state] * (last // training.trees_per_round)
        n_trees, n_states = len(training.trees), len(training.states)
        is_finished = end_round(training, trees[last:], state)
    except BaseException:
        del training.trees[n_trees:], training.states[n_states:]
        training.is_stale = True
        raise
    return is_finished


def _most_rounds(training: Training) -> int:
    """How many rounds take so little time that Ctrl-C can wait for them."""
    data = training.train.data
    n_cells = data.n_rows * max(data.n_columns, 1) * training.n_outputs
    return min(_CELLS_IN_ONE_CALL // max(n_cells, 1), _MOST_ROUNDS_IN_ONE_CALL)


def end_round(training: Training, trees: list[Any], state: Any) -> bool:
    """Add the trees of a round, which are in the scores of the training data, to the model.

    Args:
        training: The training.
        trees: As they were grown.
        state: What the objective knows after the round.

    Returns:
        As `train_round` does.
    """
    train, prepared, n_before = training.train, training.prepared, training.n_rounds
    is_finished = False
    if any(tree.n_leaves == 1 for tree in trees):
        can_differ = prepared.sampler.is_on or prepared.grower.is_random
        is_finished = not can_differ and all(tree.n_leaves == 1 for tree in trees)
        is_finished &= training.ends_without_split
        # As in LightGBM, a model that cannot be split at all has one round of constant trees.
        if is_finished and (training.trees or training.base is not None):
            return True
        keeps_value = not training.ends_without_split and training.params.boosting == "gbdt"
        trees = prepared.as_constants(trees, train.score if keeps_value else None)
    prepared.check_size(trees, n_before)
    training.boosting.end_round(training, trees)
    training.trees += trees
    training.states.append(state)
    return is_finished
