"""The columns of a CatBoost model, and the questions that its trees ask about them.

CatBoost numbers float features and categorical ones apart; `flat_feature_index` is the column.
Categories are known by a hash of their text only. Files that were saved with the training data
(`pool=`) say which text it was.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gossamer.data.categories.levels import Levels
from gossamer.data.table.names import check_names, default_names
from gossamer.errors import NotSupportedError

_WHOLE: Final = re.compile("0|-?[1-9][0-9]{0,17}")


@dataclass(frozen=True)
class Question:
    """What a node asks: rows where the answer is yes go right.

    Attributes:
        column: Column of the table.
        border: Yes where the value, rounded to float32, is above this.
        default_left: Whether missing values are a no.
        category: Yes where the value is this code; None: see `border`.
    """

    column: int
    border: float
    default_left: bool
    category: int | None = None


@dataclass(frozen=True)
class Columns:
    """The columns of a model.

    Attributes:
        names: Their names.
        levels: What the codes of categorical ones stand for.
        floats: Column, and whether missing values are a no, of each float feature.
        categorical: Column, and the code of each hash, of each categorical feature.
    """

    names: list[str]
    levels: Levels
    floats: Mapping[int, tuple[int, bool]]
    categorical: Mapping[int, tuple[int, Mapping[int, int]]]

    def question(self, split: Any) -> Question:
        """Read a split.

        Raises:
            NotSupportedError: If it is about target statistics, texts or embeddings.
            ValueError: If it is damaged.
        """
        kind = split["split_type"]
        if kind == "FloatFeature":
            column, default_left = self.floats[whole(split["float_feature_index"])]
            return Question(column, finite(split["border"]), default_left)
        if kind == "OneHotFeature":
            column, code_of = self.categorical[whole(split["cat_feature_index"])]
            return Question(column, 0.0, True, code_of[whole(split["value"]) % 2**32])
        if kind == "OnlineCtr":
            raise NotSupportedError.because(
                "the model has target statistics of categories (CTR), which depend on "
                "CatBoost's own tables",
                hint="Train it with one_hot_max_size at least the number of categories, or "
                "pass categories as numbers that are not cat_features.",
            )
        raise no_features(str(kind))


def read_columns(facts: Any) -> Columns:
    """Read `features_info`.

    Raises:
        NotSupportedError: If there are texts or embeddings, or categories of unknown text.
        ValueError: If it is damaged.
    """
    for kind in ("text_features", "embedding_features"):
        if facts.get(kind):
            raise no_features(kind)
    name_of: dict[int, str] = {}
    floats, categorical, levels = {}, {}, {}
    for feature in facts.get("float_features", []):
        column = _new_column(feature, name_of)
        treatment = feature.get("nan_value_treatment", "AsIs")
        if treatment not in ("AsIs", "AsFalse", "AsTrue"):
            raise ValueError(f"nan_value_treatment is {treatment!r:.40}")
        # Nothing is above NaN, so it is a no where it is left as it is.
        floats[whole(feature["feature_index"])] = (column, treatment != "AsTrue")
    text_of = _read_hashes(facts.get("cat_features_hash", []))
    for feature in facts.get("categorical_features", []):
        column = _new_column(feature, name_of)
        hashes = [whole(value) % 2**32 for value in feature.get("values", [])]
        levels[column] = _levels([_text(text_of, value) for value in hashes])
        code_of = {value: code for code, value in enumerate(hashes)}
        categorical[whole(feature["feature_index"])] = (column, code_of)
    n_columns = len(name_of)
    if sorted(name_of) != list(range(n_columns)):
        raise ValueError("the features are not numbered from 0 on")
    names = default_names(n_columns)
    if any(name_of.values()):
        names = check_names([name_of[i] or names[i] for i in range(n_columns)], n_columns)
    checked = Levels.from_json([[c, list(levels[c])] for c in sorted(levels)], n_columns)
    return Columns(names, checked, floats, categorical)


def _new_column(feature: Any, name_of: dict[int, str]) -> int:
    column = whole(feature["flat_feature_index"])
    if column in name_of:
        raise ValueError(f"two features have the flat_feature_index {column}")
    name_of[column] = str(feature.get("feature_id", ""))
    return column


def _read_hashes(found: Any) -> dict[int, str]:
    return {whole(pair["hash"]) % 2**32: str(pair["value"]) for pair in found}


def _text(text_of: dict[int, str], value: int) -> str:
    if value not in text_of:
        raise NotSupportedError.because(
            "the model splits categories by a hash, and does not say of which text",
            got=value,
            hint="Save it with save_model(path, format='json', pool=training_data), and load "
            "that file.",
        )
    return text_of[value]


def _levels(texts: list[str]) -> Sequence[str | int]:
    """Return levels: whole numbers where all texts are some, as CatBoost writes them."""
    is_whole = all(_WHOLE.fullmatch(text) for text in texts)
    return [int(text) for text in texts] if is_whole else texts


def no_features(kind: str) -> NotSupportedError:
    """Return the error for features that trees here do not have."""
    return NotSupportedError.because(
        "the model has features that cannot be converted",
        got=kind,
        expected="numbers, and categories that are encoded one-hot",
    )


def whole(found: Any) -> int:
    """Return a whole number.

    Raises:
        ValueError: If it is something else.

    Example:
        >>> whole(3)
        3
    """
    if type(found) is not int:
        raise ValueError(f"{found!r:.40} is not a whole number")
    return found


def finite(found: Any) -> float:
    """Return a finite number.

    Raises:
        ValueError: If it is something else.

    Example:
        >>> finite(3)
        3.0
    """
    if type(found) not in (int, float) or not math.isfinite(found):
        raise ValueError(f"{found!r:.40} is not a finite number")
    return float(found)
