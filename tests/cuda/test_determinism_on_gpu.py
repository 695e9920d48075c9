"""On a GPU, every training of the list of determinism has the bytes of the CPU."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from gossamer.errors import NotSupportedError
from tests.cuda.conftest import ON_GPU
from tests.train.test_determinism import CASES, train_bytes

pytestmark = pytest.mark.skipif(not ON_GPU, reason="needs a GPU: make test-gpu")


@pytest.mark.parametrize("name", CASES)
def test_the_bytes_are_those_of_the_cpu(name: str) -> None:
    case = CASES[name]
    try:
        found = train_bytes({**case, "device_type": "cuda"}, 4)
    except NotSupportedError as error:
        assert "device_type=cuda does not support" in str(error)
        found = train_bytes({**case, "device_type": "auto"}, 4)
    assert found == train_bytes(case, 4)


def test_two_threads_train_at_the_same_time() -> None:
    names = ("l2", "binary", "l2 missing, many leaves")
    expected = {name: train_bytes(CASES[name], 1) for name in names}
    found: dict[str, bytes] = {}

    def work(name: str) -> None:
        case: dict[str, Any] = {**CASES[name], "device_type": "cuda"}
        found[name] = train_bytes(case, 1)

    workers = [threading.Thread(target=work, args=(name,)) for name in names]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == expected
