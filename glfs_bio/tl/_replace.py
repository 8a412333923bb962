"""Genes that take the place of others in a panel, several at once."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import constraints, read, results, summaries
from .._anndata import names as names_of
from .._docs import documented
from .._progress import tell, with_bar
from ..errors import NO_VALUE, InvalidValue, Message, listed
from ..options import Limits
from ..pp import request_to_keep
from ..selection import best_panel
from ._panel import absent, beside, find, in_place_of, must_haves, of_panel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData

    from .._anndata.names import Genes
    from .._anndata.target import Preserve as Given
    from .._typing import Index
    from ..options import Platform, Preserve
    from ._panel import Found

log = logging.getLogger(__name__)


@with_bar
@documented
def replace_genes(
    adata: AnnData,
    failed: Any,
    panel: Any = "glfs",
    *,
    exclude: Genes | None = None,
    limits: Limits | None = None,
    platform: Platform | None = None,
    layer: str | None = None,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    across: Literal["mean", "worst"] | None = None,
    key_added: str | None = None,
    inplace: bool = True,
    random_state: int | None = 0,
) -> pd.DataFrame | None:
    """Replace genes of a panel, such as genes whose probes failed.

    The genes leave, and as many others enter: those that together preserve most next to the genes
    that stay, within everything that the panel was chosen with.  A gene that is selected only
    together with one that leaves, leaves too.  Genes that left do not come back when the panel is
    extended or changed again.

    Parameters
    ----------
    <adata>
    failed : str, list or path
        Genes of the panel to replace: names, one name, a file, or a boolean column of ``.var``.
    panel : str, list or path, default "glfs"
        <panel>
    exclude : str, pattern or list, default None
        Further genes that cannot enter, as in :func:`~glfs_bio.pp.select_genes`, besides those that
        the selection excluded.
    limits : Limits, default None
        Constraints.  None: those of the selection.  Sums (total counts, families, markers per type,
        budget) are those of the whole panel; limits on single genes hold for those that enter.
    platform : Platform, default None
        Target platform.  None: the platform of the selection.
    <layer of a panel>
    <symbols>
    <preserve>
    across : {"mean", "worst"}, default None
        Batches that count, where there are some: all, or the one with the lowest preserved share.
        None: as in the selection.
    key_added : str, default None
        Prefix of the columns in ``.var``, and key of ``.uns``.  None: that of the panel and
        ``_replaced``, such as ``"glfs_replaced"``, which is also that of a list.
    <inplace>
    random_state : int, default 0
        Seed of the draws of the platform.

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written are the outputs of
    :func:`~glfs_bio.pp.select_genes` under `key_added`, of a panel whose ``params`` exclude the
    genes that left, and whose ``certificate`` and ``certificate_within`` are of panels that hold
    the genes which stay, and:

    ``.uns[key_added]["table"]`` : DataFrame, one row per gene that left
        ``gene``; ``replaced_by``, the gene in its place; ``substitution_score``, as in
        :func:`substitutes`, NaN for a gene that is missing in the data; ``preserved_before`` and
        ``preserved_after``, the preserved share before and after this and all exchanges above it.
    ``.uns[key_added]["absent"]`` : str, shape (n_names,)
        Names of the panel that are missing in the data, if any.

    Raises
    ------
    ValueError
        If genes are not in the panel, or constraints are infeasible without them.

    See Also
    --------
    substitutes : List the substitutes of each gene, one at a time.
    extend_panel : Add genes to a panel.
    order_panel : Order a panel, with genes that cannot be ordered replaced.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> glfs_bio.tl.replace_genes(adata, ["NKG7", "CD79A"])
    >>> table = adata.uns["glfs_replaced"]["table"]
    >>> table["gene"].tolist(), int(adata.var["glfs_replaced_selected"].sum())
    (['NKG7', 'CD79A'], 10)
    """
    of = results.key_of(adata, panel)
    key_added = results.key_for(adata, "selection", key_added, of, suffix="replaced")
    checks.flags(inplace=inplace)
    checks.seed(random_state)
    read.unique_names(adata)
    found = find(
        *(adata, panel),
        symbols=symbols,
        preserve=preserve,
        limits=limits,
        platform=platform,
        across=across,
        layer=layer,
    )
    missing = absent(adata, found.named)
    gone, gone_absent = _leaving(adata, found, failed, missing, symbols)
    barred = names_of.not_to_choose(adata, exclude, symbols=symbols)
    barred[gone] = True
    stay = found.genes[~np.isin(found.genes, gone)]
    candidates = beside(adata, found, stay, barred)
    n_new, n_open = len(gone) + len(gone_absent), len(candidates.genes) - len(stay)
    if n_new > n_open:
        raise InvalidValue(
            "failed",
            NO_VALUE,
            f"has {n_new} genes, and {n_open} others could enter",
            "replace fewer genes, or relax the constraints",
        )
    criterion, size = found.basis.criterion, len(stay) + n_new
    chosen = best_panel(
        *(criterion, size, candidates),
        random_state=random_state,
        search=found.basis.request.search,
        time_limit=found.basis.request.time_limit,
    )
    come = candidates.genes[chosen.order[len(stay) : chosen.n_selected]]
    table = _exchanged(adata, found, gone, gone_absent, come)
    if not inplace:
        return table
    had_to = must_haves(adata, found.named)
    had_to[gone] = False
    frame = results.columns_of(chosen, candidates, adata.var_names, key_added)
    frame[f"{key_added}_included"] = had_to
    request = replace(
        found.basis.request,
        n_genes=chosen.n_selected,
        include=list(adata.var_names[had_to]) or None,
        exclude=names_of.together(
            *(adata, found.basis.request.exclude, exclude, list(adata.var_names[gone])),
            symbols=symbols,
        ),
        method="glfs",
        objective="error",
    )
    request = request.but(random_state=random_state)
    request = request_to_keep(adata, request, frame, key_added)
    entry = results.selected(chosen, request, method="glfs", objective="error", table=table)
    still = [name for name in missing if name not in gone_absent]
    if still:
        entry["absent"] = np.array(still, dtype=object)
    results.store(adata, key_added, entry, var=frame)
    tell(summaries.replacement(table))
    return None


def _leaving(
    adata: AnnData, found: Found, failed: Any, missing: Sequence[str], symbols: str | None
) -> tuple[Index, list[str]]:
    """Rows of ``.var`` of the genes that leave, and names of those that are not in the data."""
    named = names_of.named(adata, failed, symbols=symbols, argument="failed")
    gone = of_panel(adata, found, named, "failed", missing=missing, symbols=symbols)
    limits = found.basis.request.limits
    rows = None
    if limits is not None and limits.together is not None:
        rows = constraints.rows(adata, Limits(together=limits.together), symbols=symbols)
    if rows is None:
        return gone, named.absent
    partners = np.setdiff1d(np.intersect1d(rows.with_partners(gone), found.genes), gone)
    if len(partners):
        log.warning(
            Message(
                f"Genes that are selected only together with these leave too: "
                f"{listed(adata.var_names[partners])}."
            )
        )
    return np.append(gone, partners), named.absent


def _exchanged(
    adata: AnnData, found: Found, gone: Index, gone_absent: Sequence[str], come: Index
) -> pd.DataFrame:
    """One row per gene that leaves, with the one in its place."""
    criterion, names = found.basis.criterion, adata.var_names
    stay = found.genes[~np.isin(found.genes, gone)]
    rows = [*gone.tolist(), *(-1 for _ in gone_absent)]
    of, by, scores = in_place_of(criterion, stay, rows, come)
    new, score = dict(zip(of, come[by], strict=True)), dict(zip(of, scores, strict=True))
    shares = []
    with found.few_threads():
        for n_exchanged in range(len(rows) + 1):
            panel = [*stay, *(new[at] for at in range(n_exchanged) if at in new)]
            panel += [row for row in rows[n_exchanged:] if row >= 0]
            order = np.array(panel, dtype=np.intp)
            shares.append(criterion.preserved(order)[-1] if len(order) else 0.0)
    return pd.DataFrame(
        {
            "gene": [*names[gone], *gone_absent],
            "replaced_by": [names[new[at]] if at in new else "" for at in range(len(rows))],
            "substitution_score": [score.get(at, np.nan) for at in range(len(rows))],
            "preserved_before": shares[:-1],
            "preserved_after": shares[1:],
        }
    )
