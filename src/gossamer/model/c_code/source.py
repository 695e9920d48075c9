"""A model as C source: tables, and the code of `model.c` and `links.c` that reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from gossamer.errors import ParameterError
from gossamer.model.c_code.derived_tables import derived_sizes, write_derived
from gossamer.model.c_code.links import PARTS, CLink, make_link
from gossamer.model.c_code.operands import KINDS, Operands, make_operands, splits_sets
from gossamer.model.c_code.text import doubles, in_comment, integers, string, table
from gossamer.model.c_code.trees import write_trees
from gossamer.model.model import Model

# Rows that are scored together, and doubles of their operands and scores on the stack.
_BLOCK: Final = 128
_BLOCK_DOUBLES: Final = 6144
_TOGETHER: Final = 8

_NO_LINK: Final = """
/* There are no predictions: the link of the objective is a function of Python's. */
"""
_LINK: Final = """
static void MODEL_link(const double* score, double* out) {
@BODY@
}

"""
_RULES: Final = """
#include <float.h>
#include <math.h>
#include <string.h>

/* Sums and products have the bits of IEEE doubles, one operation after another. */
#if defined(__FAST_MATH__) || (defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 2)
#error "compile without -ffast-math or -Ofast, and with doubles that are not longer in registers"
#endif
#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

"""


def check_name(name: object) -> str:
    """Return a name that can stand at the beginning of names in C.

    Raises:
        ParameterError: If it cannot.

    Example:
        >>> check_name("price_model")
        'price_model'
    """
    if isinstance(name, str) and re.fullmatch(r"[A-Za-z](?:_?[A-Za-z0-9])*_?", name, re.ASCII):
        return name
    raise ParameterError.because(
        "name cannot begin the names of C functions",
        got=name,
        expected="a letter, then letters, digits and single underscores",
    )


def c_header(model: Model, name: str = "gossamer_model") -> str:
    """Return the declarations of `c_source`.

    Raises:
        ParameterError: If the name is none of C's.
    """
    return _declarations(model, make_operands(model), make_link(model.objective), check_name(name))


def c_source(model: Model, name: str = "gossamer_model") -> str:
    """Return a model as one file of C99, which is C++ too.

    Raises:
        ParameterError: If the name is none of C's.
        NotSupportedError: If the model is too large.
    """
    operands, link = make_operands(model), make_link(model.objective)
    head = _declarations(model, operands, link, check_name(name)) + _RULES
    names = table("char* const", f"{name}_names", map(string, model.names))
    parts = [
        *(f"#define MODEL_{key} {value}\n" for key, value in _sizes(model, operands, link).items()),
        "\n",
        doubles("MODEL_start", model.start.tolist()),
        integers("int32_t", "MODEL_used", operands.used.tolist()),
        integers("int32_t", "MODEL_operand_place", operands.place.tolist()),
        *write_trees(model, operands),
        *write_derived(model.derived, operands),
        "\n",
    ]
    if link.body is not None:
        parts += [_read("links.c"), _LINK.replace("@BODY@", link.body)]
    parts.append(_read("model.c"))
    # The word that is replaced by the name is not looked for in what users wrote.
    return head + names + "".join(parts).replace("MODEL", name)


def _read(file: str) -> str:
    return Path(__file__).with_name(file).read_text(encoding="ascii")


def _block(model: Model, operands: Operands) -> int:
    fitting = _BLOCK_DOUBLES // (operands.n_operands + model.forest.n_outputs)
    return min(fitting, _BLOCK) // _TOGETHER * _TOGETHER or 1


def _sizes(model: Model, operands: Operands, link: CLink) -> dict[str, int]:
    forest = model.forest
    n_predictions = link.shape[0] if link.shape else 1
    return {
        "N_OUTPUTS": forest.n_outputs,
        "N_PREDICTIONS": n_predictions,
        "N_TREES": forest.n_trees,
        "N_ROUNDS": max(forest.n_rounds, 1),
        "AVERAGED": int(model.average_output),
        "N_USED": len(operands.used),
        "N_OPERANDS": operands.n_operands,
        **{f"END_{kind}": int(end) for kind, end in zip(KINDS, operands.ends, strict=True)},
        "N_SETS": int(splits_sets(model).sum()),
        "HAS_LINEAR": int(forest.linear is not None),
        "HAS_VECTORS": int(forest.n_values > 1),
        "BLOCK": _block(model, operands),
        "HAS_LINK": int(link.body is not None),
        **{f"NEEDS_{part}": int(part in link.parts) for part in PARTS},
        **derived_sizes(model.derived),
    }


def _declarations(model: Model, operands: Operands, link: CLink, name: str) -> str:
    sizes = _sizes(model, operands, link)
    on_stack = sizes["BLOCK"] * (operands.n_operands + model.forest.n_outputs)
    stack = 8 * (on_stack + len(operands.used) + sizes["N_DERIVED"]) + 1024
    declarations = _NO_LINK if link.body is None else "\n" + _read("link.h")
    note = "" if link.is_exact else " (of the C library's functions: the last bits may differ)"
    declarations = declarations.replace("@NOTE@", note)
    text = _read("model.h").replace("@LINK_DECLARATIONS@", declarations + "@CODES@")
    text = text.replace("MODEL", name)
    for key, value in {
        "N_COLUMNS": str(model.n_columns),
        "N_OUTPUTS": str(sizes["N_OUTPUTS"]),
        "N_PREDICTIONS": str(sizes["N_PREDICTIONS"]),
        "STACK_BYTES": str(stack),
        "CODES": _codes(model),
    }.items():
        text = text.replace(f"@{key}@", value)
    return text


def _codes(model: Model) -> str:
    """Say which codes text and categories have; everything else is NAN."""
    if not model.levels:
        return ""
    lines = [
        "\n/* Codes of text and categories; other levels are NAN. Other signs than letters, digits",
        " * and a few more are written as their Unicode number, <2a>.",
    ]
    for column, levels in model.levels.by_column.items():
        lines.append(f" * column {column}, {in_comment(model.names[column])}:")
        lines += [f" *   {code}: {in_comment(level)}" for code, level in enumerate(levels)]
    return "\n".join([*lines, " */\n"])
