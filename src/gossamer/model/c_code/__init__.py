"""Models as C: source text for other programs, and libraries that are loaded back."""

from gossamer.model.c_code.compiled import CompiledModel, compile_model
from gossamer.model.c_code.source import c_header, c_source, check_name

__all__ = ["CompiledModel", "c_header", "c_source", "check_name", "compile_model"]
