"""Tools: evaluate, extend and explain panels, classify cells, and find gene sets.

Functions write to the object that they get and have no `copy`: pass ``adata.copy()`` to keep it.
"""

from __future__ import annotations

from ._classify import classify
from ._compare import compare_panels
from ._curve import curve
from ._efficiency import estimate_efficiency
from ._enrich import enrich
from ._evaluate import evaluate_panel
from ._explain import explain_panel
from ._explain_gene import explain_gene
from ._extend import extend_panel
from ._order import order_panel
from ._prove import prove_panel
from ._replace import replace_genes
from ._resolve import resolve_genes
from ._stability import stability
from ._substitutes import substitutes

__all__ = [
    "classify",
    "compare_panels",
    "curve",
    "enrich",
    "estimate_efficiency",
    "evaluate_panel",
    "explain_gene",
    "explain_panel",
    "extend_panel",
    "order_panel",
    "prove_panel",
    "replace_genes",
    "resolve_genes",
    "stability",
    "substitutes",
]


def __dir__() -> list[str]:
    return __all__
