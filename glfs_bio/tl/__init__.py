"""Tools: evaluate, extend and explain panels, classify cells, and find gene sets.

Functions write to the object that they get and have no `copy`: pass ``adata.copy()`` to keep it.
"""

from __future__ import annotations

from ._classify import classify
from ._efficiency import estimate_efficiency
from ._enrich import enrich
from ._evaluate import evaluate_panel
from ._explain import explain_panel
from ._explain_gene import explain_gene
from ._extend import extend_panel
from ._markers import markers
from ._order import order_panel
from ._predict import predict
from ._prove import prove_panel
from ._replace import replace_genes
from ._resolve import resolve_genes
from ._stability import stability
from ._substitutes import substitutes
from ._umap import panel_umap

__all__ = [
    "classify",
    "enrich",
    "estimate_efficiency",
    "evaluate_panel",
    "explain_gene",
    "explain_panel",
    "extend_panel",
    "markers",
    "order_panel",
    "panel_umap",
    "predict",
    "prove_panel",
    "replace_genes",
    "resolve_genes",
    "stability",
    "substitutes",
]


def __dir__() -> list[str]:
    return __all__
