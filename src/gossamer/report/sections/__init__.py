"""The sections of the page, in order: what each is called, and what makes it.

A section is made of what is `Given`; one that has nothing to say returns nothing and is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gossamer.report.given import Given
from gossamer.report.sections.columns import columns
from gossamer.report.sections.importance import importance
from gossamer.report.sections.learning import learning
from gossamer.report.sections.parameters import parameters
from gossamer.report.sections.partial import partial
from gossamer.report.sections.quality import quality
from gossamer.report.sections.shapley import shapley
from gossamer.report.sections.trees import trees

SECTIONS: Final[tuple[tuple[str, str, Callable[[Given], str]], ...]] = (
    ("learning", "Learning curves", learning),
    ("quality", "Quality of the predictions", quality),
    ("importance", "Importance of the columns", importance),
    ("shapley", "Shapley values", shapley),
    ("partial", "Partial dependence", partial),
    ("trees", "Trees", trees),
    ("columns", "Columns", columns),
    ("parameters", "Parameters", parameters),
)
