"""`Settings`: what the sliders of the page say, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gossamer.errors import ParameterError


@dataclass(frozen=True)
class Slider:
    """A number that can be moved.

    Attributes:
        name: The parameter; "rounds" is the number of rounds.
        title: What the page calls it.
        low: Smallest value.
        high: Largest value.
        step: Distance of two values.
        default: Where it is at first.
        help: What it does.
    """

    name: str
    title: str
    low: float
    high: float
    step: float
    default: float
    help: str

    @property
    def is_whole(self) -> bool:
        """Whether values are whole numbers."""
        return self.step == int(self.step)

    def check(self, value: object) -> float:
        """Return a value that the slider can have.

        Raises:
            ParameterError: If it is not a number, or out of range.

        Example:
            >>> SLIDERS["num_leaves"].check(8)
            8
        """
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not self.low <= value <= self.high:  # type: ignore[operator]
            raise ParameterError.because(
                f"{self.name} is out of range",
                got=value,
                expected=f"a number from {self.low:g} to {self.high:g}",
            )
        assert isinstance(value, (int, float))
        return int(value) if self.is_whole else float(value)


@dataclass(frozen=True)
class Choice:
    """One of a few words.

    Attributes:
        name: The parameter.
        title: What the page calls it.
        words: Value -> what the page calls it; the first is chosen at first.
    """

    name: str
    title: str
    words: Mapping[str, str]

    def check(self, value: object) -> str:
        """Return a word that is among the choices.

        Raises:
            ParameterError: If it is not.
        """
        if not isinstance(value, str) or value not in self.words:
            raise ParameterError.because(
                f"{self.name} is not one of the choices",
                got=value,
                expected=f"one of {', '.join(self.words)}",
            )
        return value


def _sliders(*sliders: Slider) -> dict[str, Slider]:
    return {slider.name: slider for slider in sliders}


SLIDERS: Final = _sliders(
    Slider("rounds", "Rounds", 1, 300, 1, 60, "Trees that are trained, one after another."),
    Slider("num_leaves", "Leaves", 2, 64, 1, 8, "Most leaves of a tree."),
    Slider(
        "learning_rate",
        "Learning rate",
        0.01,
        1,
        0.01,
        0.2,
        "How much of each tree is added.",
    ),
    Slider(
        "lambda_l2",
        "Regularisation (L2)",
        0,
        50,
        0.5,
        1,
        "Pulls the values of leaves towards zero.",
    ),
    Slider(
        "min_data_in_leaf",
        "Rows per leaf",
        1,
        100,
        1,
        5,
        "Smaller leaves are not made.",
    ),
    Slider("max_bin", "Bins", 2, 255, 1, 63, "Most bins of a column, for hist and approx."),
    Slider("top_rate", "GOSS: rows kept", 0, 0.5, 0.05, 0.2, "Share with the largest gradients."),
    Slider("other_rate", "GOSS: rows drawn", 0.05, 0.5, 0.05, 0.1, "Share drawn from the others."),
)

CHOICES: Final = {
    choice.name: choice
    for choice in (
        Choice(
            "tree_method",
            "Candidates for splits",
            {
                "hist": "hist: bounds of bins",
                "approx": "approx: quantiles for each tree",
                "exact": "exact: every value",
            },
        ),
        Choice(
            "grow_policy",
            "Growth",
            {
                "lossguide": "leaf-wise: largest gain first",
                "depthwise": "depth-wise: level by level",
            },
        ),
        Choice("sampling", "Rows of a round", {"all": "all rows", "goss": "GOSS"}),
    )
}


@dataclass(frozen=True)
class Settings:
    """What the page asks for.

    Attributes:
        scene: Name of an example, or "file".
        columns: With "file": the two columns and the target.
        values: Values of the sliders and choices, by name.
        round: The round that is looked at, from 1.
    """

    scene: str
    columns: tuple[str, str, str] | None
    values: Mapping[str, Any]
    round: int

    @property
    def training_key(self) -> tuple[Any, ...]:
        """What the trained model depends on: all but the round that is looked at."""
        return (self.scene, self.columns, *sorted(self.values.items()))

    @classmethod
    def parse(cls, asked: object) -> Settings:
        """Check what the page sent.

        Args:
            asked: An object with the names of sliders and choices; what is left out is as at
                first. `round` 0 or none is the last round.

        Raises:
            ParameterError: If something is unknown, or out of range.

        Example:
            >>> settings = Settings.parse({"scene": "moons", "rounds": 10, "round": 3})
            >>> settings.round, settings.values["rounds"], settings.params("binary")["num_leaves"]
            (3, 10, 8)
        """
        if not isinstance(asked, dict):
            raise ParameterError.because("the settings must be an object", got=asked)
        known = {"scene", "columns", "round", *SLIDERS, *CHOICES}
        unknown = sorted(set(asked) - known)
        if unknown:
            raise ParameterError.because("there is no such setting", got=unknown[0])
        values: dict[str, Any] = {
            name: slider.check(asked.get(name, slider.default)) for name, slider in SLIDERS.items()
        }
        for name, choice in CHOICES.items():
            values[name] = choice.check(asked.get(name, next(iter(choice.words))))
        n_rounds = int(values["rounds"])
        shown = asked.get("round") or n_rounds
        if not isinstance(shown, int) or isinstance(shown, bool) or shown < 1:
            raise ParameterError.because(
                "round is out of range", got=shown, expected=f"1 to {n_rounds}"
            )
        return cls(
            _text(asked.get("scene", "moons"), "scene"),
            _columns(asked.get("columns")),
            values,
            min(shown, n_rounds),
        )

    def params(self, task: str) -> dict[str, Any]:
        """Return the parameters for `gossamer.train`."""
        values = dict(self.values)
        del values["rounds"]
        params: dict[str, Any] = {
            "objective": task,
            "metric": "binary_logloss" if task == "binary" else "rmse",
            "verbose": -1,
            "num_threads": 1,
        }
        if values["tree_method"] == "exact":  # which has no bins
            del values["max_bin"]
        if values.pop("sampling") == "goss":
            params["data_sample_strategy"] = "goss"
        else:
            del values["top_rate"], values["other_rate"]
        return params | values


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise ParameterError.because(f"{name} must be text", got=value)
    return value


def _columns(value: object) -> tuple[str, str, str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 3:
        raise ParameterError.because(
            "columns must be two columns and a target", got=value, expected="three names"
        )
    x, y, target = (_text(name, "a column") for name in value)
    return x, y, target
