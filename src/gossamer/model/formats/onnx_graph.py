"""`Graph`: an ONNX graph that is put together one operator at a time."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import numpy as np
import numpy.typing as npt

# Operators of these versions: the first with `TreeEnsemble`, and its time's others (onnx 1.16).
OPSETS: Final = {"": 21, "ai.onnx.ml": 5}
IR_VERSION: Final = 10


def import_onnx() -> Any:
    """Return the package.

    Raises:
        ImportError: If it is not installed.
    """
    try:
        return import_module("onnx")
    except ImportError as error:
        raise ImportError(
            'ONNX files need the onnx package: pip install "gossamer[onnx]"'
        ) from error


class Graph:
    """Operators in order; values have names.

    Attributes:
        dtype: Type of all numbers in it.
    """

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self._onnx = import_onnx()
        self._helper = import_module("onnx.helper")
        self._numpy = import_module("onnx.numpy_helper")
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    @property
    def type(self) -> int:
        """ONNX's number of the type of all numbers."""
        return int(self._helper.np_dtype_to_tensor_dtype(self.dtype))

    @property
    def whole(self) -> int:
        """ONNX's number of the type of whole numbers."""
        return int(self._helper.np_dtype_to_tensor_dtype(np.dtype(np.int64)))

    def tensor(self, values: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Any:
        """Return an array as ONNX has it."""
        return self._numpy.from_array(
            np.asarray(values, dtype=self.dtype if dtype is None else dtype)
        )

    def constant(self, values: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> str:
        """Add a constant; return its name."""
        tensor = self.tensor(values, dtype)
        tensor.name = f"constant_{len(self._constants)}"
        self._constants.append(tensor)
        return str(tensor.name)

    def op(self, kind: str, *inputs: str, n: int = 1, domain: str = "", **attributes: Any) -> Any:
        """Add an operator; return the name of its output, or the names if there are several."""
        names = [f"{kind.lower()}_{len(self._nodes)}_{i}" for i in range(n)]
        node = self._helper.make_node(kind, list(inputs), names, domain=domain, **attributes)
        self._nodes.append(node)
        return names[0] if n == 1 else names

    def name(self, value: str, name: str) -> str:
        """Give a value another name."""
        self._nodes.append(self._helper.make_node("Identity", [value], [name]))
        return name

    def to_model(self, n_columns: int, outputs: dict[str, Any], facts: dict[str, str]) -> Any:
        """Return the model, checked.

        Args:
            n_columns: Columns of the input, which is called "X".
            outputs: Name: type and shape.
            facts: What else the file says.
        """
        info = self._helper.make_tensor_value_info
        graph = self._helper.make_graph(
            self._nodes,
            "gossamer",
            [info("X", self.type, ["rows", n_columns])],
            [info(name, *kind) for name, kind in outputs.items()],
            self._constants,
        )
        opsets = [self._helper.make_opsetid(domain, v) for domain, v in OPSETS.items()]
        model = self._helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="gossamer"
        )
        self._helper.set_model_props(model, facts)
        self._onnx.checker.check_model(model)
        return model
