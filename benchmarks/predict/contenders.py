"""Who predicts: each makes a model once, as files, and gives a function that predicts a table."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.predict.cases import Case, make_training_data

Predict = Callable[[], Any]
_RATE = 0.05


class Contender(ABC):
    """A library, or a compiler of the models of one."""

    packages: tuple[str, ...]

    def is_installed(self) -> bool:
        """Whether its packages can be imported."""
        return all(importlib.util.find_spec(name) is not None for name in self.packages)

    @abstractmethod
    def make(self, case: Case, folder: Path, threads: int, train_rows: int) -> None:
        """Writes the model, unless it is there."""

    @abstractmethod
    def load(self, case: Case, folder: Path, threads: int, x: Any) -> Predict:
        """Returns what predicts the rows; all that is done once per model is done."""


def _lightgbm_params(case: Case, threads: int) -> dict[str, Any]:
    params = {"objective": "regression", "num_leaves": case.n_leaves, "learning_rate": _RATE}
    return {**params, "num_threads": threads, "verbosity": -1}


class Gossamer(Contender):
    """`Booster.predict`."""

    packages = ("gossamer",)

    def make(self, case: Case, folder: Path, threads: int, train_rows: int) -> None:
        """Writes the model."""
        import gossamer

        if not (folder / "gossamer.gsm").is_file():
            data = gossamer.Dataset(*make_training_data(case, train_rows))
            model = gossamer.train(_lightgbm_params(case, threads), data, case.n_trees)
            model.save_model(folder / "gossamer.gsm")

    def load(self, case: Case, folder: Path, threads: int, x: Any) -> Predict:
        """Returns what predicts."""
        import gossamer

        model = gossamer.Booster(model_file=folder / "gossamer.gsm")
        if case.n_rows == 1:
            return lambda: model.predict(x)
        return lambda: model.predict(x, num_threads=threads)


class GossamerPredictor(Gossamer):
    """`Booster.predictor`, with a list as servers have it."""

    def load(self, case: Case, folder: Path, threads: int, x: Any) -> Predict:
        """Returns what predicts."""
        import gossamer

        predict_row = gossamer.Booster(model_file=folder / "gossamer.gsm").predictor()
        row = x[0].tolist()
        return lambda: predict_row(row)


class LightGBM(Contender):
    """`Booster.predict`."""

    packages = ("lightgbm",)

    def make(self, case: Case, folder: Path, threads: int, train_rows: int) -> None:
        """Writes the model."""
        import lightgbm

        if not (folder / "lightgbm.txt").is_file():
            data = lightgbm.Dataset(*make_training_data(case, train_rows))
            model = lightgbm.train(_lightgbm_params(case, threads), data, case.n_trees)
            model.save_model(folder / "lightgbm.txt")

    def load(self, case: Case, folder: Path, threads: int, x: Any) -> Predict:
        """Returns what predicts."""
        import lightgbm

        model = lightgbm.Booster(model_file=folder / "lightgbm.txt")
        return lambda: model.predict(x, num_threads=threads)


class XGBoost(Contender):
    """`Booster.inplace_predict`."""

    packages = ("xgboost",)

    def make(self, case: Case, folder: Path, threads: int, train_rows: int) -> None:
        """Writes the model."""
        import xgboost

        if (folder / "xgboost.json").is_file():
            return
        params = {"tree_method": "hist", "grow_policy": "lossguide", "max_depth": 0, "eta": _RATE}
        params |= {"max_leaves": case.n_leaves, "nthread": threads}
        data = xgboost.DMatrix(*make_training_data(case, train_rows))
        xgboost.train(params, data, case.n_trees).save_model(folder / "xgboost.json")

    def load(self, case: Case, folder: Path, threads: int, x: Any) -> Predict:
        """Returns what predicts."""
        import xgboost

        model = xgboost.Booster({"nthread": threads}, model_file=str(folder / "xgboost.json"))
        return lambda: model.inplace_predict(x)


class Lleaves(LightGBM):
    """LightGBM's model compiled with LLVM."""

    packages = ("lightgbm", "lleaves")

    def make(self, case: Case, folder: Path, threads: int, train_rows: int) -> None:
        """Writes the model."""
        super().make(case, folder, threads, train_rows)
        self._compile(folder)

    def load(self, case: Case, folder: Path, threads: int, x: Any) -> Predict:
        """Returns what predicts."""
        model = self._compile(folder)
        return lambda: model.predict(x, n_jobs=threads)

    def _compile(self, folder: Path) -> Any:
        import lleaves

        model = lleaves.Model(model_file=str(folder / "lightgbm.txt"))
        model.compile(cache=str(folder / "lleaves.o"))
        return model


class Tl2cgen(LightGBM):
    """LightGBM's model as C code (treelite), compiled with gcc."""

    packages = ("lightgbm", "treelite", "tl2cgen")

    def make(self, case: Case, folder: Path, threads: int, train_rows: int) -> None:
        """Writes the model."""
        super().make(case, folder, threads, train_rows)
        import tl2cgen
        import treelite

        if not (folder / "tl2cgen.so").is_file():
            model = treelite.frontend.load_lightgbm_model(str(folder / "lightgbm.txt"))
            library = str(folder / "tl2cgen.so")
            tl2cgen.export_lib(
                model, toolchain="gcc", libpath=library, params={"parallel_comp": 16}
            )

    def load(self, case: Case, folder: Path, threads: int, x: Any) -> Predict:
        """Returns what predicts."""
        import tl2cgen

        model = tl2cgen.Predictor(str(folder / "tl2cgen.so"), nthread=threads)
        if case.n_rows == 1:
            return lambda: model.predict(tl2cgen.DMatrix(x))
        rows = tl2cgen.DMatrix(x)  # a copy, which is not timed
        return lambda: model.predict(rows)


CONTENDERS: dict[str, Contender] = {
    "gossamer": Gossamer(),
    "gossamer_predictor": GossamerPredictor(),
    "lightgbm": LightGBM(),
    "xgboost": XGBoost(),
    "lleaves": Lleaves(),
    "tl2cgen": Tl2cgen(),
}
