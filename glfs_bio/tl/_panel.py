"""A panel, from any of its forms, and the criterion for its evaluation."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._anndata import alike, constraints, names, read, results, stale
from .._anndata import platform as platforms
from .._anndata import target as targets
from .._anndata.structure import specified, structure_of
from ..criterion.panel import MeasuredPanel, Substitutions
from ..data.threads import few_threads
from ..errors import ADATA, Caution, InvalidValue, Message, arg, warn
from ..options import Preserve, Request, StructureSpec
from ..selection import check_batches, warn_of_noise
from ..solvers.constraints import ALONE

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.names import Genes, Named
    from .._anndata.structure import Structure
    from .._typing import Array, Index
    from ..criterion.criterion import Criterion
    from ..criterion.platform import Detection


log = logging.getLogger(__name__)

#: Arguments of a selection that a call may replace without a word.
_UNSAID = {"across", "symbols", "missing", "random_state"}


@dataclass(frozen=True)
class Basis:
    """What panels are evaluated by."""

    #: The request of the selection that the panel is, with what the call replaces in it.
    request: Request
    structure: Structure
    #: F, over all genes.
    criterion: Criterion
    #: What the target platform is to the genes.
    detection: Detection

    def record(self) -> dict[str, Any]:
        """Return what it is, for ``params``."""
        names = ("preserve", "cell_weights")
        return {name: getattr(self.request, name) for name in names} | {
            "structure": self.structure.spec
        }


@dataclass(frozen=True)
class Found:
    """A panel in the rows of ``.var``, and what it is evaluated by."""

    #: In the rows of ``.var``
    named: Named
    basis: Basis

    @property
    def layer(self) -> str | None:
        """Layer that it is evaluated by."""
        return self.basis.structure.spec.layer

    @property
    def genes(self) -> Index:
        """Rows of ``.var``."""
        return self.named.genes

    def few_threads(self) -> AbstractContextManager[object]:
        """Context for what is computed of its genes, see :mod:`~glfs_bio.data.threads`."""
        return few_threads(self.basis.criterion.rank)

    @cached_property
    def preserved(self) -> Array:
        """Preserved share of the first genes each."""
        return preserved_by(self.basis.criterion, self.genes)

    @property
    def is_all(self) -> bool:
        """Whether these are all genes that vary, with which nothing can be compared."""
        return bool(are_all(self.basis.criterion, self.genes)[-1])

    @cached_property
    def measured(self) -> MeasuredPanel:
        """The panel with E once its genes are measured."""
        return MeasuredPanel(self.basis.criterion, self.genes)


def find(
    adata: AnnData,
    panel: Any,
    *,
    symbols: str | None = None,
    preserve: Any = None,
    layer: str | None = None,
    **replaced: Any,
) -> Found:
    """Find the genes of a panel, and what it is evaluated by.

    Names that are not in the data are left out with a warning.  `replaced` are fields of the
    request that the panel brings along; None is one that stays, and so is a `layer`.
    """
    named = names.panel(adata, panel, symbols=symbols, missing="warn")
    stale.check_genes(adata, named.key, "panel")
    request = asked(adata, named.key, preserve=preserve, layer=layer, symbols=symbols, **replaced)
    return Found(named, basis_of(adata, request))


def asked(
    adata: AnnData,
    key: str | None = None,
    *,
    preserve: Any = None,
    layer: str | None = None,
    **replaced: Any,
) -> Request:
    """Return the request of a selection, or of another panel (None), with fields replaced.

    What is None stays as it is; `preserve` may be a target, or a ``Preserve``; `layer` is that of
    the structure.  Batches count in their mean, whatever a selection counted, unless `across` is
    among the fields.
    """
    read.unique_names(adata)
    request = Request()
    if key is not None and key in adata.uns:
        request = results.request_of(adata, key)
    replaced = {"across": "mean"} | replaced
    given = {name: value for name, value in replaced.items() if value is not None}
    if preserve is not None:
        if not isinstance(preserve, Preserve):
            preserve = Preserve(preserve)
        given |= {"preserve": preserve.target, "cell_weights": preserve.cell_weights}
        if preserve.use_rep is not None:
            named = specified(adata, StructureSpec(use_rep=preserve.use_rep))
            ignore = named.ignore if named.stored_key else request.structure.ignore
            given["structure"] = replace(named, ignore=ignore)
    found = replace(request, missing="warn", **given)
    if layer is not None:
        if found.structure.stored_key is not None:
            raise InvalidValue(
                "layer",
                layer,
                f"conflicts with the structure {found.structure.stored_key!r}, which has its own",
                f"leave it out, or name another structure with {arg('preserve')}",
            )
        found = found.but(layer=layer)
    say_overridden(key, request, found)
    return found


def say_overridden(key: str | None, before: Request, now: Request) -> None:
    """Say in one line which arguments of a selection a call replaces by others."""
    asked_for = now.arguments()
    other = [
        arg(name)
        for name, value in before.arguments().items()
        if not (value is None or name in _UNSAID or repr(value) == repr(asked_for[name]))
    ]
    if key is not None and other:
        log.warning(
            Message(f"{', '.join(other)}: this call replaces what {key!r} was selected with.")
        )


def basis_of(adata: AnnData, request: Request) -> Basis:
    """Return what panels of a request are evaluated by."""
    plain = names.settled(adata, request, "ignore")
    spec = plain.structure
    _warn_of_other_genes(adata)
    target = targets.resolve(adata, plain)
    detection = platforms.of_genes(adata, request.platform, spec.layer, request.symbols)
    check_batches(request.across, one_set=spec.batch_key is None)
    structure = structure_of(adata, spec)
    worst = request.across == "worst"
    criterion = structure.criterion(target, worst=worst, efficiency=detection.noise)
    warn_of_noise(criterion)
    return Basis(request, structure, criterion, detection)


def are_all(criterion: Criterion, order: Index) -> NDArray[np.bool_]:
    """Return whether the first genes each are all that vary: these preserve all, whatever it is."""
    varying = np.any([one.variance > 0 for one in criterion.sets], axis=0)
    return np.asarray(np.cumsum(varying[order]) == varying.sum())


def preserved_by(criterion: Criterion, order: Index) -> Array:
    """Return the preserved shares of the first genes each; NaN where these are all that vary."""
    is_all = are_all(criterion, order)
    if is_all.any():
        warn(
            Caution(
                f"The panel has all genes of {ADATA} that vary, and would preserve all of their "
                "structure in any case: its shares are missing. Use an object with more genes."
            )
        )
    return np.where(is_all, np.nan, criterion.preserved(order))


def _warn_of_other_genes(adata: AnnData) -> None:
    """Warn where results are of more genes than there are."""
    before = stale.most_genes(adata)
    if before > adata.n_vars:
        warn(
            Caution(
                f"{ADATA} has {adata.n_vars} genes, and results of {before}: what is preserved is "
                "now a share of the structure of these alone. Use the object with all genes."
            )
        )


def substitutions(
    adata: AnnData, found: Found, leaving: Index, exclude: Genes | None, *, symbols: str | None
) -> Substitutions:
    """Return what comes of replacing genes of a panel; the score is −∞ where that cannot be.

    A gene of the panel, or one that is excluded, is no substitute.  Where the panel is a selection,
    neither is a gene that could not be selected, nor one with which its limits would not hold.
    """
    lost, score = found.measured.substitutions(leaving)
    key, basis = found.named.key, found.basis
    ignore = basis.structure.spec.ignore
    out = names.not_to_choose(adata, exclude, ignore=ignore, symbols=symbols)
    if key is not None:
        out |= adata.var[f"{key}_score"].isna().to_numpy()
    out[found.genes] = True
    out |= alike.beside(adata, found.genes, basis.request)
    score[:, out] = -np.inf
    limits, detection = basis.request.limits, basis.detection
    rows = constraints.rows(
        adata,
        limits,
        layer=found.layer,
        allowed=~out,
        detection=detection,
        symbols=basis.request.symbols,
    )
    if rows is not None:
        tied = rows.groups is not None and rows.groups != ALONE
        score[:, tied] = -np.inf
        score[np.isin(leaving, np.flatnonzero(tied))] = -np.inf
        used = rows.sums(found.genes)
        for place, gene in enumerate(leaving):
            rest = used - rows.sums([gene])
            score[place, ~(rows.within(rest) & rows.enough(rest))] = -np.inf
    return Substitutions(lost, score)
