"""Panels side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import write
from .._progress import progress
from ..criterion.panel import SHARE, n_matched
from ..errors import NO_VALUE, InvalidType, InvalidValue
from ._evaluate import N_STEPS, Asked, evaluated
from ._structure import judged

if TYPE_CHECKING:
    from anndata import AnnData

    from .._anndata.names import Missing
    from .._anndata.target import Preserve
    from ._structure import Judged

_FEWEST = 2


def compare_panels(
    adata: AnnData,
    panels: Mapping[str, Any],
    labels: str | None = None,
    *,
    counts_layer: str | None = None,
    share: float = SHARE,
    symbols: str | None = None,
    missing: Missing = "warn",
    preserve: Preserve = "structure",
    cell_weights: str | None = None,
    structure_key: str = "glfs_structure",
    key_added: str = "glfs_comparison",
    inplace: bool = True,
    random_state: int | None = 0,
    show_progress: bool = True,
) -> dict[str, pd.DataFrame] | None:
    """Judge two or more panels by the same measures, and say what they have in common.

    Parameters
    ----------
    adata
        Cells × genes, logarithmised.
    panels
        What to call each panel, and the panel: names of genes, a file of them, the key of a
        selection, or the name of a boolean column of ``.var``.
    labels, counts_layer
        As in :func:`~glfs_bio.tl.evaluate_panel`.
    share
        What counts as a substitute, as in :func:`~glfs_bio.tl.substitutes`.
    preserve, cell_weights
        What every panel is to keep, as in :func:`~glfs_bio.pp.select_genes`.
    symbols, missing, structure_key
        As in :func:`~glfs_bio.tl.evaluate_panel`.
    key_added
        Key of ``.uns``.
    inplace
        Write to `adata`; otherwise return the tables.  There is no `copy`: to keep an object, pass
        ``adata.copy()``.
    random_state
        Seed of random panels and clusters.
    show_progress
        Whether a bar on stderr shows the progress.

    Returns
    -------
    None, or with `inplace=False` a dict of tables.  Written:

    ``.uns[key_added]``
        ``measures``, a row a panel: every number of :func:`~glfs_bio.tl.evaluate_panel`.
        ``shared``, ``jaccard`` and ``jaccard_with_substitutes``, panels × panels: genes in common;
        these over genes in either; and the same where a gene may be matched with a gene that
        stands in for it in one of the two panels.  ``params`` and ``versions``.

    Raises
    ------
    KeyError, TypeError, ValueError
        A parameter, gene, column or matrix that cannot be used; fewer than two panels.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panels = {"ours": ["CD3D", "CD79A", "NKG7"], "theirs": ["CD3D", "LYZ", "GNLY"]}
    >>> tables = glfs_bio.tl.compare_panels(adata, panels, inplace=False, show_progress=False)
    >>> int(tables["shared"].loc["ours", "theirs"])
    1
    """
    params = {
        "labels": labels,
        "preserve": preserve,
        "cell_weights": cell_weights,
        "share": share,
        "random_state": random_state,
    }
    if not isinstance(panels, Mapping) or len(panels) < _FEWEST:
        raise InvalidType(
            "panels", NO_VALUE, "must be a {mapping} of at least two panels by their names"
        )
    slashed = [str(name) for name in panels if "/" in str(name)]
    if slashed:
        raise InvalidValue(
            "panels",
            NO_VALUE,
            "has the name {name!r}, with a slash, which files cannot keep",
            "choose another name",
            name=slashed[0],
        )
    checks.number("share", share)
    checks.keys(key_added=key_added)
    checks.flags(inplace=inplace, show_progress=show_progress)
    asked = Asked.of(adata, labels, counts_layer, None, 0, 1, random_state)
    rows, found = {}, {}
    with progress(show=show_progress) as bar:
        task = bar.add_task("the structure of the cells", total=N_STEPS * len(panels))
        structure = None
        for name, panel in panels.items():
            one = judged(
                adata,
                panel,
                symbols=symbols,
                missing=missing,
                structure_key=structure_key,
                preserve=preserve,
                cell_weights=cell_weights,
                structure=structure,
            )
            structure, found[str(name)] = one.structure, one
            entry, _, _ = evaluated(
                adata,
                one,
                asked,
                lambda what, name=name: bar.update(  # type: ignore[misc]
                    task, advance=1, description=f"{name}: {what}"
                ),
            )
            rows[str(name)] = {
                measure: value for measure, value in entry.items() if np.isscalar(value)
            }
    tables = {"measures": pd.DataFrame(rows).T.rename_axis("panel"), **_overlaps(found, share)}
    if not inplace:
        return tables
    adata.uns[key_added] = {
        **tables,
        "params": write.parameters(params),
        "versions": write.versions(),
    }
    return None


def _overlaps(panels: Mapping[str, Judged], share: float) -> dict[str, pd.DataFrame]:
    """Genes that every two panels share, by name and by substitutes."""
    names = pd.Index(panels, name="panel")
    shared = pd.DataFrame(0, index=names, columns=list(panels))
    matched = shared.copy()
    sizes = {name: len(one.panel) for name, one in panels.items()}
    stands_in = {name: one.measured.substitutes(share) for name, one in panels.items()}
    for first, one in panels.items():
        for second, other in panels.items():
            shared.loc[first, second] = len(np.intersect1d(one.panel, other.panel))
            either = stands_in[first] + stands_in[second]
            matched.loc[first, second] = n_matched(one.panel, other.panel, either)
    both = pd.DataFrame(
        {second: {first: sizes[first] + sizes[second] for first in panels} for second in panels}
    )
    return {
        "shared": shared,
        "jaccard": shared / (both - shared),
        "jaccard_with_substitutes": matched / (both - matched),
    }
