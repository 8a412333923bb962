"""How much of a selection hangs on the cells that happened to be sampled."""

from __future__ import annotations

import inspect
import warnings
from contextlib import closing
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from .. import checks
from .._anndata import examined, read, write
from .._anndata.versions import versions
from .._progress import progress
from ..measures import stability as over_parts
from ..pp import recorded_parameters, select_genes
from ..pp._structure import compute
from ._parts import COUNTS, drawn, lean, selected
from ._structure import preserving

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

_FEWEST_RESAMPLES = 2
_FEWEST_CELLS = 3
_DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(select_genes).parameters.items()
    if name not in {"adata", *examined.WHERE}
}


def stability(
    adata: AnnData,
    n_genes: int | Literal["recorded"] | None = "recorded",
    *,
    key: str = "glfs",
    n_resamples: int = 20,
    fraction: float = 0.5,
    n_jobs: int | None = None,
    key_added: str | None = None,
    random_state: int | Literal["recorded"] | None = "recorded",
    show_progress: bool = True,
    **select: Any,
) -> None:
    """Repeat a selection on random parts of the cells, and count how often each gene is selected.

    The selection is the one under `key`, with the parameters that it was made with.  Parameters
    that are named here take the place of those.

    Every part is drawn without replacement, within each batch where there is a `batch_key`.  Its
    principal components and its graph are computed from its own cells, whether or not the selection
    re-used those of all cells: these would tell the parts of one another and make them agree too
    well.  Only what `use_rep` and `neighbors_key` name is used, the rows of the part.

    Parameters
    ----------
    adata
        Cells × genes, logarithmised.  ``adata.X`` is never changed.
    n_genes
        Genes to select in each part; None: an automatic number in each.  ``"recorded"``: as in the
        selection.
    key
        Which selection: its `key_added`.  Where there is none, the parameters given are examined,
        with the defaults of ``select_genes``.
    n_resamples
        Number of parts.
    fraction
        Share of the cells in a part, above 0 and below 1.
    n_jobs
        Processes; −1: one a core.  None: 1, or what :func:`joblib.parallel_config` says.  The
        result does not depend on it.
    key_added
        Prefix of the columns written to ``.var``, and key of ``.uns``.  None, or `key`, which keeps
        its record: ``f"{key}_stability"``.
    random_state
        Seed of the parts and of the principal components.  ``"recorded"``: that of the selection.
    show_progress
        Whether a bar on stderr shows the progress.  An interrupt leaves `adata` as it was.
    **select
        Parameters of :func:`~glfs_bio.pp.select_genes` in place of those of the selection.  What
        :func:`~glfs_bio.pp.recorded_parameters` returns can be given as it is: `subset`, `inplace`
        and `as_highly_variable` have no effect on which genes are selected, and none here.

    Returns
    -------
    None.  Written:

    ``.var[f"{key_added}_frequency"]``
        Share of the parts in which the gene is selected; NaN for genes that were not tested.
    ``.var[f"{key_added}_frequency_with_substitutes"]``
        For the genes of the selection (without one, of the consensus): share of the parts in which
        the gene or one that stands in for it is selected, see :func:`~glfs_bio.tl.substitutes`;
        NaN for the others.
    ``.var[f"{key_added}_consensus"]``
        The panel of the genes that are selected most often, as many as a part selects on average.
        Of genes selected equally often those of the best mean rank are in it.
    ``.uns[key_added]``
        ``of``: `key`; ``jaccard``, shape (n_resamples, n_resamples): genes that two selections
        share, over those that are in either; ``mean_jaccard``, over the pairs;
        ``jaccard_with_substitutes`` and its mean: the same where a gene may be matched with one
        that stands in for it; ``n_genes``, shape (n_resamples,): sizes of the selections;
        ``n_tested``: genes to choose from; ``n_cells``: size of a part; ``reused``: whether
        ``representation`` and ``graph`` of the parts are rows of those of all cells; ``params``:
        every parameter that was examined; ``versions``.

    Raises
    ------
    KeyError
        There is no selection under `key`, and no parameter is given; or a parameter names what is
        not there.
    TypeError, ValueError
        A parameter, matrix or graph that cannot be used; `adata` has fewer genes than the selection
        had to choose from, or is one of several data sets that it was made from.  `adata` is left
        as it was.

    References
    ----------
    N. Meinshausen and P. Bühlmann, Stability selection, J. R. Stat. Soc. B 2010.

    Examples
    --------
    >>> import scanpy as sc
    >>> import glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> glfs_bio.tl.stability(adata, n_resamples=2, show_progress=False)
    >>> int(adata.var["glfs_stability_consensus"].sum())
    10
    """
    checks.keys(key=key)
    checks.whole_number("n_resamples", n_resamples, at_least=_FEWEST_RESAMPLES)
    checks.number("fraction", fraction, above=0.0)
    checks.flags(show_progress=show_progress)
    if n_jobs is not None and (n_jobs == 0 or not isinstance(n_jobs, Integral)):
        msg = f"n_jobs={n_jobs!r} must be an integer other than 0, or None."
        raise ValueError(msg)
    if fraction >= 1:
        msg = f"fraction={fraction!r} must be below 1: all cells give the same genes every time."
        raise ValueError(msg)
    read.unique_names(adata)
    key_added = _target(adata, key, key_added)
    given = {"n_genes": n_genes, "random_state": random_state}
    given = select | {name: value for name, value in given.items() if not _is_recorded(value)}
    params = _parameters(adata, key, given)
    checks.seed(params["random_state"])
    cells = lean(adata, params)
    parts = drawn(cells, params["batch_key"], fraction, n_resamples, params["random_state"])
    if len(parts[0]) < _FEWEST_CELLS:
        msg = f"fraction={fraction!r} leaves {len(parts[0])} of {adata.n_obs} cells: too few."
        raise ValueError(msg)

    options = {**params, "layer": None, "inplace": False}
    if params["counts_layer"] is not None:
        options["counts_layer"] = COUNTS
    tasks = (delayed(selected)(cells, part, options) for part in parts)
    bar = progress(show=show_progress)
    with bar, closing(Parallel(n_jobs=n_jobs, return_as="generator")(tasks)) as work:
        results = list(bar.track(work, total=n_resamples, description="selecting on parts"))
    for category, text in dict.fromkeys(told for _, _, warned in results for told in warned):
        warnings.warn(text, category, stacklevel=2)

    chosen = np.stack([selected for selected, _, _ in results])
    ranks = np.stack([ranked for _, ranked, _ in results])
    tested = ~np.isnan(ranks[0])
    sizes = chosen.sum(axis=1)
    jaccard = over_parts.jaccard(chosen)
    consensus = over_parts.consensus(chosen, ranks, round(float(sizes.mean())))
    panel = adata.var.get(f"{key}_selected", consensus)
    grouped, matched = _with_substitutes(adata, params, np.asarray(panel, dtype=bool), chosen)
    adata.var[f"{key_added}_frequency"] = np.where(tested, chosen.mean(axis=0), np.nan)
    adata.var[f"{key_added}_frequency_with_substitutes"] = grouped
    adata.var[f"{key_added}_consensus"] = consensus
    adata.uns[key_added] = {
        "of": key,
        "jaccard": jaccard,
        "mean_jaccard": _mean(jaccard),
        "jaccard_with_substitutes": matched,
        "mean_jaccard_with_substitutes": _mean(matched),
        "n_genes": sizes,
        "n_tested": int(tested.sum()),
        "n_cells": len(parts[0]),
        "reused": {
            "representation": params["use_rep"] not in {None, "X"},
            "graph": params["neighbors_key"] is not None,
        },
        "params": {
            name: write.storable(value)
            for name, value in {
                **params,
                "n_resamples": n_resamples,
                "fraction": fraction,
            }.items()
        },
        "versions": versions(),
    }


def _with_substitutes(
    adata: AnnData, params: dict[str, Any], panel: NDArray[np.bool_], chosen: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Frequencies of the panel's genes, and Jaccard indices, where substitutes count as the gene.

    What stands in for what is a matter of all cells.
    """
    with warnings.catch_warnings():  # the selections have said it
        warnings.filterwarnings("ignore", "The matrix holds whole numbers", UserWarning)
        structure = preserving(
            adata,
            partial(compute, adata, params, stacklevel=3),
            params["preserve"],
            params["cell_weights"],
            symbols=params["symbols"],
            missing="ignore",
        )
    seen = structure.genes
    frequency = np.full(adata.n_vars, np.nan)
    genes = np.flatnonzero(panel[seen])
    with threadpool_limits(1):  # so that the result is that of any number of processes
        frequency[seen[genes]] = over_parts.with_substitutes(
            structure.criterion, genes, chosen[:, seen]
        )
        matched = over_parts.jaccard_with_substitutes(
            structure.criterion, [np.flatnonzero(part[seen]) for part in chosen]
        )
    return frequency, matched


def _mean(jaccard: NDArray[np.float64]) -> float:
    """Over the pairs."""
    return float(jaccard[np.triu_indices(len(jaccard), 1)].mean())


def _is_recorded(value: object) -> bool:
    return isinstance(value, str) and value == "recorded"


def _target(adata: AnnData, key: str, key_added: str | None) -> str:
    """Where to write, which is never where a selection is."""
    if key_added is None or key_added == key:
        return f"{key}_stability"
    checks.keys(key_added=key_added)
    if f"{key_added}_selected" in adata.var:
        msg = (
            f"key_added={key_added!r} is the name of a selection, whose record would be lost: "
            f"choose another, or pass key={key_added!r} to examine that selection."
        )
        raise ValueError(msg)
    return key_added


def _parameters(adata: AnnData, key: str, given: dict[str, Any]) -> dict[str, Any]:
    """Everything that decides on the genes: as given, else as recorded, else the default."""
    given = {name: value for name, value in given.items() if name not in examined.WHERE}
    recorded: dict[str, Any] = {}
    if key in adata.uns:
        recorded = recorded_parameters(adata, key)
        if (names := adata.uns[key].get("data_sets")) is not None:
            msg = (
                f"key={key!r}: the selection was made from several data sets ({', '.join(names)}), "
                "and adata is one of them.  Join them, with their names in a column of adata.obs, "
                "select with batch_key=, and examine that selection."
            )
            raise ValueError(msg)
        if adata.n_vars < (n_tested := adata.uns[key]["n_tested"]):
            msg = (
                f"key={key!r}: the selection was made from {n_tested} genes, and adata has "
                f"{adata.n_vars}.  Examine it in the object that has all of them."
            )
            raise ValueError(msg)
    elif given.keys() <= {"random_state"}:
        msg = (
            f"key={key!r} is not in adata.uns: run glfs_bio.pp.select_genes first, or name the "
            "parameters to examine, such as n_genes."
        )
        raise KeyError(msg)
    recorded = {name: value for name, value in recorded.items() if name not in examined.WHERE}
    for name, value in (recorded | given).items():
        if name not in _DEFAULTS:
            msg = f"{name}={value!r} is not one of {', '.join(_DEFAULTS)}."
            raise TypeError(msg)
    return _DEFAULTS | recorded | given
