"""What a selection minimises: one class an objective, one file each.

``error`` is the criterion that panels come from by default; ``exact`` and ``printed`` are the
paper's.  ``variance`` and ``gram`` hold what these two share.
"""

from __future__ import annotations

from .error import Error
from .exact import Exact
from .printed import Printed
from .variance import Objective, Point

#: The paper's objectives.
VARIANCES = {"exact": Exact, "printed": Printed}
OBJECTIVES = ("error", *VARIANCES)

__all__ = ["OBJECTIVES", "VARIANCES", "Error", "Objective", "Point"]
