"""The original GLFS, whole: the variance of LapRLS with an ℓ1 penalty (Wang & Goldenberg 2014)."""

from __future__ import annotations

from .exact import Exact
from .printed import Printed

#: The objectives of the paper.
VARIANCES = {"exact": Exact, "printed": Printed}
OBJECTIVES = ("error", *VARIANCES)
