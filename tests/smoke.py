"""Trains, predicts, saves and loads with nothing but the wheel installed: `make wheel` runs it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path


def main() -> None:
    import numpy as np

    import gossamer

    assert "src" not in Path(gossamer.__file__).parts, "this is the checkout, not the wheel"
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 5)).astype(np.float32)
    x[::7, 2] = np.nan
    y = (x[:, 0] + x[:, 1] ** 2 + rng.normal(size=2000) > 1).astype(np.float32)
    train_set = gossamer.Dataset(x[:1500], y[:1500])
    params = {"objective": "binary", "num_leaves": 15, "verbose": -1}
    booster = gossamer.train(params, train_set, num_boost_round=20)
    predicted = booster.predict(x[1500:])
    accuracy = float(((predicted > 0.5) == (y[1500:] > 0)).mean())
    assert accuracy > 0.7, accuracy
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.safetensors")
        booster.save_model(path)
        again = gossamer.Booster(model_file=path).predict(x[1500:])
        page = booster.report(Path(folder, "report.html"), x[1500:], y[1500:])
        assert b"</html>" in page.read_bytes()  # its styles and scripts are in the wheel
    assert np.array_equal(predicted, again)
    for optional in ("sklearn", "matplotlib", "tqdm"):
        assert optional not in sys.modules, f"{optional} is optional and must not be imported"
    print(f"gossamer {gossamer.__version__}: accuracy {accuracy:.3f}, the same after loading")


if __name__ == "__main__":
    main()
