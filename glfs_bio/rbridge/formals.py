"""The functions of R, by those of Python, whose signatures they have.

``make r-functions`` writes them to ``R/functions.R`` of the R package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import pp, tl
from .._anndata.results import KINDS
from ..options import Limits, Platform

if TYPE_CHECKING:
    from collections.abc import Callable

#: By the names that R has for them, without ``glfs_``: those that write results, by their kinds.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr({"pp": pp, "tl": tl}[module], name)
    for module, _, name in (path.partition(".") for path in KINDS.values())
    if name != "enrich"
}
FUNCTIONS["extend_panel"] = tl.extend_panel
#: Options that are made by a function.
RECORDS: dict[str, Callable[..., Any]] = {"limits": Limits, "platform": Platform}
CALLED = FUNCTIONS | RECORDS
#: Functions whose `preserve` R has in several arguments, and parameters of a structure as others.
EVALUATING = frozenset({"evaluate_panel", "extend_panel", "explain_panel", "prove_panel"})
#: The object itself, and what has no meaning in R or another argument there.
NOT_IN_R = frozenset({"adata", "as_highly_variable", "inplace", "layer", "new"})
#: R's names of arguments that have others there.
RENAMED = {"batch_key": "block", "n_jobs": "BPPARAM", "use_rep": "dimred"}
