"""Change parameters while training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from gossamer.callbacks.env import CallbackEnv, is_cv
from gossamer.errors import ParameterError

Schedule = list[Any] | dict[int, Any] | Callable[[int], Any]


@dataclass(eq=False)
class _ResetParameter:
    order: ClassVar[int] = 10
    before_iteration: ClassVar[bool] = True

    kwargs: dict[str, Schedule]

    def __call__(self, env: CallbackEnv) -> None:
        values = {
            name: self._value(name, env) for name in self.kwargs if self._has_begun(name, env)
        }
        changed = {name: v for name, v in values.items() if v != env.params.get(name)}
        if changed:
            for booster in env.model.boosters if is_cv(env.model) else [env.model]:
                booster.reset_parameter(changed)
            env.params.update(changed)

    def _has_begun(self, name: str, env: CallbackEnv) -> bool:
        """Whether a schedule says something about this round; one by rounds may start later."""
        schedule = self.kwargs[name]
        n_done = env.iteration - env.begin_iteration
        return not isinstance(schedule, dict) or any(first <= n_done for first in schedule)

    def _value(self, name: str, env: CallbackEnv) -> Any:
        schedule = self.kwargs[name]
        n_done = env.iteration - env.begin_iteration
        if callable(schedule):
            return schedule(n_done)
        if isinstance(schedule, dict):
            return schedule[max(first for first in schedule if first <= n_done)]
        n_rounds = env.end_iteration - env.begin_iteration
        if len(schedule) != n_rounds:
            raise ParameterError.because(
                f"The list for {name!r} is of the wrong length",
                got=len(schedule),
                expected=f"{n_rounds} values, one per round",
                hint="A function of the round works for any number of rounds.",
            )
        return schedule[n_done]


def reset_parameter(**kwargs: Schedule) -> _ResetParameter:
    """Change parameters before each round, for example the learning rate.

    Args:
        **kwargs: For each parameter, a list with one value per round; a function that receives the
            number of rounds completed in this training (0 at first) and returns the value; or a
            dict from the number of completed rounds to the value used from then on. Parameters that
            cannot change during training (the objective, bins, ...) raise an error.

    Example:
        >>> from gossamer.callbacks import CallbackEnv
        >>> class Model:
        ...     def reset_parameter(self, params):
        ...         print(params)
        >>> decay = reset_parameter(learning_rate=lambda n_done: 0.5**n_done)
        >>> decay(CallbackEnv(Model(), {}, 2, 0, 10, None))
        {'learning_rate': 0.25}
    """
    for name, schedule in kwargs.items():
        is_by_round = isinstance(schedule, dict) and all(_is_round(key) for key in schedule)
        if not isinstance(schedule, list) and not callable(schedule) and not is_by_round:
            raise ParameterError.because(
                f"reset_parameter cannot use what is given for {name!r}",
                got=schedule,
                expected="a list with one value per round, a function of the round, or a dict "
                "of values by round",
            )
    return _ResetParameter(kwargs)


def _is_round(key: object) -> bool:
    return isinstance(key, int) and not isinstance(key, bool) and key >= 0
