"""Tools: evaluate, extend and explain panels, classify cells, and find gene sets.

Functions write to the object that they get and have no `copy`: pass ``adata.copy()`` to keep it.
"""

from __future__ import annotations

from ._classify import classify
from ._efficiency import estimate_efficiency
from ._enrich import enrich
from ._evaluate import evaluate_panel
from ._explain import explain_panel
from ._extend import extend_panel
from ._order import order_panel
from ._prove import prove_panel
from ._resolve import resolve_genes
from ._stability import stability

__all__ = ["classify", "enrich", "estimate_efficiency", "evaluate_panel", "explain_panel"]
__all__ += ["extend_panel", "order_panel", "prove_panel", "resolve_genes", "stability"]
__dir__ = __all__.copy
