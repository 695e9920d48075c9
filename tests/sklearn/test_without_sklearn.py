"""Without scikit-learn the package works; an estimator says what to install."""

from __future__ import annotations

import subprocess
import sys


def run(script: str) -> subprocess.CompletedProcess[str]:
    blocked = "import sys; sys.modules['sklearn'] = None\n"
    return subprocess.run(
        [sys.executable, "-c", blocked + script], capture_output=True, text=True, check=False
    )


def test_import_does_not_need_it() -> None:
    result = run(
        "import gossamer\n"
        "from gossamer import *\n"
        "model = train({}, Dataset([[1.0], [2.0]], label=[0, 1]), 2)\n"
        "print(gossamer.GossamerClassifier.__name__, gossamer.LGBMRegressor.__name__)"
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["GossamerClassifier", "GossamerRegressor"]


def test_estimators_say_what_to_install() -> None:
    for name in ("GossamerModel", "GossamerClassifier", "GossamerRegressor"):
        result = run(f"import gossamer; gossamer.{name}(num_leaves=7)")
        assert result.returncode == 1
        assert f"ImportError: {name} needs scikit-learn" in result.stderr
        assert 'pip install "gossamer[sklearn]"' in result.stderr


def test_importing_the_package_does_not_import_it() -> None:
    script = "import sys, gossamer; sys.exit('sklearn' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], check=False)
    assert result.returncode == 0
