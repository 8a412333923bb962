"""How good a panel is, and what it misses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import checks
from .._anndata import write
from .._anndata.versions import versions
from .._progress import progress
from ._measured import N_STEPS, Asked, evaluated
from ._structure import judged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anndata import AnnData

    from .._anndata.genes import Missing
    from .._anndata.preserve import Preserve


def evaluate_panel(
    adata: AnnData,
    panel: Any = "glfs",
    labels: str | None = None,
    *,
    counts_layer: str | None = None,
    failure: str | Mapping[str, float] | float | None = None,
    n_random: int = 20,
    n_directions: int = 5,
    symbols: str | None = None,
    missing: Missing = "warn",
    preserve: Preserve | None = None,
    cell_weights: str | None = None,
    structure_key: str = "glfs_structure",
    key_added: str = "glfs_evaluation",
    inplace: bool = True,
    random_state: int | None = 0,
    show_progress: bool = True,
) -> dict[str, Any] | None:
    """Judge any panel of genes: what it keeps of the cells, and what it misses.

    The share of the structure that is kept needs no labels and is on one scale for every panel of
    the same cells.  It is 0 without genes and 1 with all of them.  A share of .3 can be good: few
    genes do not keep what twenty thousand do.  The random panels and the best possible share of the
    same size tell how good.

    Parameters
    ----------
    adata
        Cells × genes, logarithmised.
    panel
        Names of genes, a file of them, the key of a selection, or the name of a boolean column of
        ``.var``.
    labels
        Column of ``.obs`` with labels of the cells, such as types; cells without one are left out.
    counts_layer
        Layer of raw counts, or ``"X"``: what share of the counts the panel takes.
    failure
        Probability that a gene fails: one number, a column of ``.var``, or a dict by name.
    n_random
        Random panels of the same size, of genes that vary.
    n_directions
        Directions to list that the panel misses.
    symbols
        Column of ``.var`` with names that genes may be given by.
    missing
        What to do about names that are not in the data: ``"raise"``, ``"warn"`` or ``"ignore"``.
    preserve, cell_weights
        What the panel is to keep, as in :func:`~glfs_bio.pp.select_genes`.  None: what a selection
        was made for, and the structure for other panels.
    structure_key
        Where :func:`~glfs_bio.pp.structure` kept the structure; computed where it is not there.
    key_added
        Key of ``.uns``, and prefix of the columns of ``.obs`` and ``.var``.
    inplace
        Write to `adata`; otherwise return what ``.uns`` gets.  There is no `copy`: to keep an
        object, pass ``adata.copy()``.
    random_state
        Seed of the random panels, of clusters, and of `failure`.
    show_progress
        Whether a bar on stderr shows the progress.  An interrupt leaves `adata` as it was.

    Returns
    -------
    None, or with `inplace=False` the dict.  Written:

    ``.uns[key_added]``
        Of the structure: ``kept``, the share that the panel keeps; ``of_best_possible``, at least
        that share of what the best panel of as many genes keeps; ``best_kept``, what the panel of
        :func:`~glfs_bio.pp.select_genes` of that size keeps, and ``most_kept``, what no panel of
        that size exceeds; ``random_kept``, of random panels, shape (n_random,);
        ``kept_with_failures``, with `failure`; with the batches of a structure or of a selection
        ``batches``, their names, and ``kept_in_batches``, the share that is kept of each.

        Of the cells as the panel shows them: ``neighbors_kept``, the share of the 15 nearest cells
        in 50 principal components of all genes that are nearest cells in the panel;
        ``clusters_kept_coarse`` and ``clusters_kept_fine``: normalised mutual information of 5–10
        and of 20–40 clusters in both.  With `labels` ``accuracy``, ``macro_f1`` and ``rare_f1`` of
        leave-one-out prediction from the 15 nearest cells (rare: at most 5 % of the cells),
        ``per_label`` (a table, with ``recall``, ``f1``, ``confused_with``) and ``confusion``,
        numbers of cells, labels × predictions, in the order of ``per_label``.

        Of the genes: ``imputed``, the median R² of the structure of unmeasured genes; of those of
        the panel ``mean_correlation`` and ``n_effective``, an effective number of genes.  With
        `counts_layer` ``counts_share``, of all counts, ``counts_spearman``: whether the panel's
        total follows the total of the cell, and ``counts_per_label``, a table with ``ratio``: how
        much more of a label's counts than of all the panel takes.

        What it misses: ``missed``, a table of directions, the worst first: ``share`` of what is
        left open, the genes on both sides (``genes_up``, ``genes_down``), and with `labels` the
        labels that vary most along it (``labels``).

        ``n_genes``; ``genes``; ``absent``, names that are not in the data; ``params``;
        ``versions``.
    ``.obs[f"{key_added}_open"]``
        The error that the panel leaves at each cell, in units of that of a mean cell without any
        gene.  A cell of which there is more to be known has more left open.
    ``.var[f"{key_added}_r2"]``
        R² of the structure of each unmeasured gene, as the panel predicts it; NaN for the panel.

    Raises
    ------
    KeyError, TypeError, ValueError
        A parameter, gene, column or matrix that cannot be used; `adata` is left as it was.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
    >>> found = glfs_bio.tl.evaluate_panel(
    ...     adata, panel, "bulk_labels", inplace=False, show_progress=False
    ... )
    >>> bool(found["kept"] > found["random_kept"].max())
    True
    """
    params: dict[str, Any] = {
        name: value
        for name, value in locals().items()
        if name not in {"adata", "panel", "inplace", "show_progress"}
    }
    checks.keys(key_added=key_added)
    checks.flags(inplace=inplace, show_progress=show_progress)
    asked = Asked.of(adata, labels, counts_layer, failure, n_random, n_directions, random_state)
    with progress(show=show_progress) as bar:
        task = bar.add_task("the structure of the cells", total=N_STEPS)
        found = judged(
            adata,
            panel,
            symbols=symbols,
            missing=missing,
            structure_key=structure_key,
            preserve=preserve,
            cell_weights=cell_weights,
        )
        entry, of_cells, r2 = evaluated(
            adata, found, asked, lambda what: bar.update(task, advance=1, description=what)
        )
    entry["params"] = {name: write.storable(value) for name, value in params.items()} | found.by
    entry["versions"] = versions()
    if not inplace:
        return entry
    adata.obs[f"{key_added}_open"] = of_cells
    adata.var[f"{key_added}_r2"] = r2
    adata.uns[key_added] = entry
    return None
