"""`Booster.refit`, as a function of a booster."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from gossamer.data import Dataset
from gossamer.data.chunks.find_source import whole_table
from gossamer.model.given_params import given_params
from gossamer.params import resolve

if TYPE_CHECKING:
    from gossamer.model.booster import Booster

AnyBooster = TypeVar("AnyBooster", bound="Booster")


def refit(
    booster: AnyBooster,
    data: Any,
    label: Any,
    decay_rate: float = 0.9,
    reference: Dataset | None = None,
    weight: Any = None,
    group: Any = None,
    init_score: Any = None,
    feature_name: Sequence[str] | Literal["auto"] = "auto",
    categorical_feature: Sequence[str | int] | Literal["auto"] = "auto",
    dataset_params: Mapping[str, Any] | None = None,
    free_raw_data: bool = True,
    validate_features: bool | None = None,
    **kwargs: Any,
) -> AnyBooster:
    """Compute the leaf values again on other data. The splits do not change.

    Round by round, the new value of a leaf is `decay_rate` times the old value plus `1 -
    decay_rate` times the value computed from its new rows, shrunk by `learning_rate`. The start
    value of the model changes in the same way. Leaves without new rows keep their value. See
    docs/control.md.

    Args:
        data: Rows x columns, as for `predict`.
        label: Labels, as for `Dataset`.
        decay_rate: Share of the old value that is kept, from 0 to 1.
        reference: As for `Dataset`.
        weight: Weights, as for `Dataset`.
        group: Number of rows of each query, as for `Dataset`.
        init_score: Scores to start from, as for `Dataset`.
        feature_name: As for `Dataset`.
        categorical_feature: As for `Dataset`.
        dataset_params: Parameters of the `Dataset`.
        free_raw_data: Has no effect; the data is not kept.
        validate_features: As for `predict`.
        **kwargs: Parameters to change from the model's training, such as `lambda_l2`;
            `objective` for a model with a custom objective.

    Returns:
        A new model; this one does not change.

    Raises:
        ParameterError: If `decay_rate` is not between 0 and 1.
        DataError: If the data does not fit the model.

    Example:
        >>> import numpy as np
        >>> from gossamer import Booster
        >>> x = np.arange(100.0).reshape(-1, 1)
        >>> booster = Booster({"num_leaves": 2}, Dataset(x, label=x[:, 0] > 50))
        >>> booster.update()
        False
        >>> moved = booster.refit(x, 10 * (x[:, 0] > 50), decay_rate=0.0)
        >>> bool(moved.predict([[99.0]]) > booster.predict([[99.0]]))
        True
    """
    params = given_params(booster.params)
    data = whole_table(data)
    if validate_features is False and isinstance(feature_name, str):
        feature_name = booster.feature_name()
    new_set = Dataset(
        data,
        label,
        reference=reference,
        weight=weight,
        group=group,
        init_score=init_score,
        feature_name=feature_name,
        categorical_feature=categorical_feature,
        params=dataset_params,
        free_raw_data=False,
    )
    from gossamer.model.change.refit import refit as refit_model

    resolved = resolve(params).replace(**kwargs)
    model = refit_model(booster.model, resolved, new_set, data, decay_rate, validate_features)
    found = copy.copy(booster)
    found.params, found.model = {**params, **kwargs}, model
    found.train_set = new_set
    return found
