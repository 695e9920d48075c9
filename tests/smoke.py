"""Tries the installed package where nothing else is: `make wheel` runs it.

Data in, a model out and back; files of other formats; C source, which needs files of the package;
the command; and that nothing of it needs what is optional.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import metadata, version
from pathlib import Path


def main() -> None:
    import numpy as np
    import scipy.sparse

    import gossamer

    package = Path(gossamer.__file__).parent
    assert "src" not in package.parts, "this is the checkout, not the wheel"
    for name in ("py.typed", "_native.pyi", "model/c_code/model.c", "model/c_code/model.h"):
        assert (package / name).exists(), f"{name} is not in the wheel"
    assert gossamer.__version__ == version("gossamer")
    extras = set(metadata("gossamer").get_all("Provides-Extra") or ())
    assert {"sklearn", "plot", "progress", "tune", "files", "all"} <= extras, extras

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
        path = Path(folder, "model.gsm")
        booster.save_model(path)
        again = gossamer.Booster(model_file=path).predict(x[1500:])
        page = booster.report(Path(folder, "report.html"), x[1500:], y[1500:])
        assert b"</html>" in page.read_bytes()  # its styles and scripts are in the wheel
    assert np.array_equal(predicted, again)
    assert np.array_equal(predicted, booster.predict(scipy.sparse.csr_array(x[1500:])))
    assert booster.predict(x[:3], pred_contrib=True).shape == (3, 6)
    assert "double" in booster.to_c()

    # Columns by name, of a dict: no library of data frames is needed.
    table = {"size": x[:, 0], "city": ["Bern", "Oslo"] * 1000, "price": y}
    by_name = gossamer.train(params, gossamer.Dataset(table, label="price"), 5)
    assert by_name.feature_name() == ["size", "city"]
    assert len(gossamer.cv(params, train_set, 3, nfold=3)["valid binary_logloss-mean"]) == 3

    for optional in ("sklearn", "matplotlib", "tqdm", "pandas", "pyarrow", "optuna"):
        assert optional not in sys.modules, f"{optional} is optional and must not be imported"
    command = Path(sysconfig.get_path("scripts"), "gossamer")
    run = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    assert run.returncode == 0 and gossamer.__version__ in run.stdout, run.stderr
    print(f"gossamer {gossamer.__version__}: accuracy {accuracy:.3f}, the same after loading")


if __name__ == "__main__":
    main()
