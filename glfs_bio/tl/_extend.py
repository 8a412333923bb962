"""Genes that are added to a panel, in the place of some of its genes or beside all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import constraints, summaries
from .._anndata import names as names_of
from .._anndata.tool import Result, tool
from ..data.threads import few_threads
from ..errors import InvalidValue, listed, short
from ..pp import panel_to_keep
from ..selection import best_panel, strongest_out
from ._panel import absent, find, in_place_of, joining_problem, must_haves, preserved_by

if TYPE_CHECKING:
    from collections.abc import Collection

    from anndata import AnnData

    from .._anndata.names import Genes
    from .._anndata.target import Preserve as Target
    from ..options import Limits, Platform, Preserve
    from ._panel import GenePanel


@tool("selection", summaries.extension, suffix="extended")
def extend_panel(
    adata: AnnData,
    panel: Any,
    n_genes: int | None = None,
    *,
    drop: Any = None,
    exclude: Genes | None = None,
    limits: Limits | None = None,
    platform: Platform | None = None,
    layer: str | None = None,
    symbols: str | None = None,
    preserve: Preserve | Target | None = None,
    key_added: str | None = None,
    inplace: bool = True,
) -> Result:
    """Add genes to a panel, such as a catalogue panel, or in the place of genes whose probes fail.

    The genes of the panel stay, but for those to `drop`.  Those that are added preserve most next
    to them, within everything that the panel was chosen with, as in
    :func:`~glfs_bio.pp.select_genes` with `include`.

    Parameters
    ----------
    <adata>
    panel : str, list or path
        <panel>
    n_genes : int, default None
        Size of the whole panel with the genes that are added, and with names that are missing in
        the data.  None: the fewest genes with which the panel preserves 90 % of what all genes
        preserve (at most 500), or as many as the budget allows; with `drop` the size of `panel`.
    drop : str, list or path, default None
        Genes of the panel that leave, such as those whose probes failed: names, one name, a file,
        or a boolean column of ``.var``.  They do not come back when the panel is extended again.
    exclude : str, pattern or list, default None
        Genes that cannot be added, as in :func:`~glfs_bio.pp.select_genes`.  None: those of the
        selection.
    limits : Limits, default None
        Constraints.  None: those of the selection.  Sums (total counts, families, markers per type,
        budget) are those of the whole panel; limits on single genes hold for the added genes.
        Names that are missing in the data cost nothing.
    platform : Platform, default None
        Target platform.  None: the platform of the selection.
    <layer of a panel>
    <symbols>
    <preserve>
        Batches count as in the selection.
    <key_added by a panel> _extended
        Columns in ``.var`` begin with it.
    <inplace>

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written are the outputs of
    :func:`~glfs_bio.pp.select_genes` under `key_added`, whose ``certificate`` and
    ``certificate_within`` are of panels that hold the genes which stay, and:

    ``.var[f"{key_added}_included"]`` : bool
        Genes of the given panel, or of a selection those that had to be in it, and stay.
    ``.uns[key_added]["table"]`` : DataFrame, one row per added gene, in their order
        ``gene``; ``adds``, the share of the target that it adds; ``preserved``, the preserved share
        with it; with `drop`, ``replaces``, the gene in whose place it is, so that the sum of the
        substitution scores is largest, or ``""``; and ``substitution_score``, as in
        :func:`explain_panel`, NaN for a gene that is missing in the data.
    ``.uns[key_added]["dropped"]`` : str, shape (n_names,)
        With `drop`: genes that left, which the ``params`` exclude.
    ``.uns[key_added]["preserved_before"]`` : float
        With `drop`: preserved share of the panel with these genes.
    ``.uns[key_added]["absent"]`` : str, shape (n_names,)
        Names of the panel that are missing in the data, if any.

    Raises
    ------
    ValueError
        If genes to drop are not in the panel, or constraints are infeasible.

    See Also
    --------
    explain_panel : Explain each gene of a panel, with its substitutes.
    order_panel : Order a panel, with genes that cannot be ordered replaced.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.tl.extend_panel(adata, ["CD3D", "LYZ", "NKG7"], 8)
    >>> len(adata.uns["glfs_extended"]["table"])
    5
    >>> table = glfs_bio.tl.extend_panel(adata, "glfs_extended", drop="LYZ", inplace=False)
    >>> list(table.columns), table["replaces"].tolist()
    (['gene', 'adds', 'preserved', 'replaces', 'substitution_score'], ['LYZ'])
    """
    checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
    replaced = {"exclude": exclude, "limits": limits, "platform": platform, "across": None}
    subject = find(adata, panel, symbols=symbols, preserve=preserve, layer=layer, **replaced)
    request, criterion, names = subject.basis.request, subject.basis.criterion, adata.var_names
    missing = absent(adata, subject.named)
    dropped = _dropped(adata, subject, drop, missing, symbols)
    missing = [name for name in missing if name not in dropped.index]
    leaves = np.isin(np.arange(adata.n_vars), dropped)
    had_to = must_haves(adata, subject.named) & ~leaves
    stay = subject.genes[~leaves[subject.genes]]
    problem = joining_problem(adata, subject, stay, leaves)
    size = None if drop is None else len(stay) + len(dropped)
    if n_genes is not None:
        size = n_genes - len(missing)
    n_open = len(problem.genes) - len(stay)
    if size is not None and size <= len(stay):
        raise InvalidValue(f"`n_genes={short(n_genes)}` adds no gene to the panel: ask for more")
    if size is not None and size - len(stay) > n_open:
        about = "`drop`" if n_genes is None else f"`n_genes={short(n_genes)}`"
        raise InvalidValue(f"{about} needs more than {n_open} genes to add: ask for fewer")
    with few_threads(criterion.rank):
        best = best_panel(replace(problem, n_genes=size))
    out = {} if problem.limits is None else constraints.ruled_out(problem.limits, problem)
    if out:
        best.info["ruled_out"] = strongest_out(criterion, out)
        best = constraints.name_ruled_out(adata, best)
    order = problem.genes[best.order[: best.n_selected]]
    new, adds = order[len(stay) :], np.diff(best.preserved, prepend=0.0)[len(stay) :]
    preserved = preserved_by(criterion, order)[len(stay) :]
    table = pd.DataFrame({"gene": names[new], "adds": adds, "preserved": preserved})
    content: dict[str, Any] = {"method": "glfs", "objective": "error", "table": table}
    include, exclude = subject.genes, request.exclude
    if drop is not None:
        # those that enter in the place of genes that leave, and their substitution scores
        leaving, entering, scores = in_place_of(criterion, stay, dropped.tolist(), new)
        replaced_by = pd.Series(dropped.index[leaving], entering, dtype=object)
        table["replaces"] = replaced_by.reindex(range(len(new)), fill_value="")
        table["substitution_score"] = pd.Series(scores, entering, dtype=float)
        content["dropped"] = dropped.index.to_numpy(dtype=object)
        content["preserved_before"] = float(subject.preserved[-1])
        include, genes = np.flatnonzero(had_to), list(dropped.index[dropped >= 0])
        exclude = names_of.together(adata, exclude, genes, symbols=symbols)
    if missing:
        content["absent"] = np.array(missing, dtype=object)
    request = replace(request, n_genes=best.n_selected, method="glfs", objective="error")
    request = replace(request, include=list(names[include]) or None, exclude=exclude)
    frame, entry = panel_to_keep(adata, best, problem, request, str(key_added), **content)
    if drop is not None or subject.named.key is not None:
        frame[f"{key_added}_included"] = had_to
    return Result(entry, var=frame)


def _dropped(
    adata: AnnData, panel: GenePanel, drop: Any, missing: Collection[str], symbols: str | None
) -> pd.Series:
    """Return rows of ``.var`` of the genes that leave, by their names; −1 for those it lacks."""
    if drop is None:
        return pd.Series(dtype=np.intp)
    to_drop = names_of.panel(adata, drop, symbols=symbols, missing=None, argument="drop")
    genes = to_drop.genes
    outside = list(adata.var_names[genes[~np.isin(genes, panel.genes)]])
    unknown = [name for name in to_drop.absent if name not in missing]
    if outside or unknown:
        text = f"`drop` has genes that the panel lacks ({listed([*outside, *unknown])})"
        hints = names_of.Lookup(adata, symbols).hints(unknown)
        raise InvalidValue(f"{text}: leave them out{hints}")
    absent_rows = pd.Series(-1, index=to_drop.absent, dtype=np.intp)
    return pd.concat([pd.Series(genes, index=adata.var_names[genes]), absent_rows])
