"""A panel, from any of its forms, and the criterion for its evaluation."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from .._anndata import alike, constraints, names, read, results, stale
from .._anndata import platform as platforms
from .._anndata import target as targets
from .._anndata.structure import of_object, specified, structure_of
from ..criterion.panel import MeasuredPanel
from ..criterion.platform import Detection
from ..data.threads import few_threads
from ..errors import (
    ADATA,
    NO_VALUE,
    Caution,
    InvalidValue,
    Message,
    NotFound,
    arg,
    listed,
    shown,
    warn,
)
from ..options import Preserve, Request, StructureSpec
from ..panel import adds_nothing
from ..selection import Candidates, check_batches, warn_of_noise
from ..solvers.certificate import TOLERANCE
from ..solvers.places import FreePlaces, free_places
from ..vendors.forms import is_yes

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from contextlib import AbstractContextManager

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.names import Named
    from .._anndata.structure import Structure
    from .._typing import Array, Index
    from ..criterion.criterion import Criterion
    from ..solvers.constraints import Rows

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

    def limits(self, adata: AnnData, allowed: NDArray[np.bool_] | None = None) -> Rows | None:
        """Return the limits of the request as rows over all genes; None where there are none."""
        return constraints.rows(
            adata,
            self.request.limits,
            layer=self.structure.spec.layer,
            allowed=allowed,
            detection=self.detection,
            symbols=self.request.symbols,
        )

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

    @cached_property
    def losses(self) -> Array:
        """What the panel loses without each gene."""
        return self.basis.criterion.losses(self.genes)


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
    found = Found(named, basis_of(adata, request))
    say_overridden(adata, named.key, request)
    return found


def asked(
    adata: AnnData,
    key: str | None = None,
    *,
    preserve: Any = None,
    layer: str | None = None,
    **replaced: Any,
) -> Request:
    """Return the request of a selection, or of another panel (None), with fields replaced.

    What is None stays as it is, and the structure of another panel is that of the object;
    `preserve` may be a target, or a ``Preserve``; `layer` is that of the structure.  Batches count
    in their mean, whatever a selection counted, unless `across` is among the fields.
    """
    read.unique_names(adata)
    replaced = {"across": "mean"} | replaced
    given = {name: value for name, value in replaced.items() if value is not None}
    own = key is not None and key in adata.uns
    if own:
        request = results.request_of(adata, str(key))
    elif "structure" in given or (isinstance(preserve, Preserve) and preserve.use_rep is not None):
        request = Request()
    else:
        request = Request(structure=of_object(adata, layer))
    if not own and preserve is None:
        _say_other_target(adata)
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
    return found


def _say_other_target(adata: AnnData) -> None:
    """Say that a panel is not evaluated by the target of a selection in the object."""
    for key, made_for in results.requests(adata).items():
        other = {"preserve": made_for.preserve, "cell_weights": made_for.cell_weights}
        told = ", ".join(arg(name, one) for name, one in other.items() if one is not None)
        if str(made_for.preserve) != "structure" or made_for.cell_weights is not None:
            log.warning(
                Message(
                    f"The target is {arg('preserve', 'structure')}, and not that of {shown(key)}: "
                    f"{told}."
                )
            )
            return


def say_overridden(adata: AnnData, key: str | None, now: Request) -> None:
    """Say in one line which arguments of a selection a call replaced by others."""
    if key is None or key not in adata.uns:
        return
    before = results.request_of(adata, key)
    named = before.arguments()
    other = [arg(name) for name in overridden(before, now) if named[name] is not None]
    if other:
        log.warning(
            Message(f"{', '.join(other)}: this call replaces what {shown(key)} was selected with.")
        )


def one_data_set(adata: AnnData, key: str, argument: str) -> None:
    """Refuse a selection from several datasets, of which an object is one."""
    names = adata.uns[key].get("data_sets")
    if names is not None:
        raise InvalidValue(
            argument,
            key,
            f"is a selection from several datasets ({listed(names)}), but {ADATA} is one of them",
            f"concatenate them, select with their names as {arg('batch_key')}, and use that "
            "selection",
        )


def overridden(before: Request, now: Request) -> list[str]:
    """Return names of the arguments of a selection that a call replaced by others, with a word."""
    asked_for = now.arguments()
    return [
        name
        for name, value in before.arguments().items()
        if not (name in _UNSAID or repr(value) == repr(asked_for[name]))
    ]


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
    instrument = detection.instrument(plain.resolved_structure.standardize)
    criterion = structure.criterion(target, worst=worst, instrument=instrument)
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


@dataclass(frozen=True)
class Replacements:
    """What comes of replacing genes of a panel, one at a time, by every gene of the data."""

    #: Share that is lost without each gene, shape (len(leaving),)
    loss: Array
    #: Whether a gene adds nothing, so that nothing can take over from it
    needless: NDArray[np.bool_]
    #: Share that is lost with another gene instead, shape (len(leaving), n_genes)
    lost: Array
    #: Substitution score; −∞ where a gene cannot replace another, or takes nothing over
    score: Array
    #: Whether another gene can stand there whatever stands in the other places, within the limits
    may: NDArray[np.bool_]

    def best(self, place: int, n: int) -> Index:
        """Return at most `n` substitutes of a gene, the best first."""
        order = np.argsort(-self.score[place], kind="stable")[:n]
        return np.asarray(order[np.isfinite(self.score[place, order])])


def replacements(
    adata: AnnData, found: Found, leaving: Index, barred: NDArray[np.bool_]
) -> Replacements:
    """Return what comes of replacing genes of a panel by others, but for those that are `barred`.

    A gene of the panel is no substitute.  Where the panel is a selection, neither is a gene that
    could not be selected, nor one with which its limits would not hold.
    """
    lost, score = found.measured.substitutions(leaving)
    losses = found.losses
    at = {int(gene): place for place, gene in enumerate(found.genes)}
    places = np.array([at[int(gene)] for gene in leaving], dtype=np.intp)
    needless = adds_nothing(losses)[places]
    score[(score <= 0.0) | needless[:, None]] = -np.inf
    key, basis = found.named.key, found.basis
    out = barred | names.not_to_choose(adata, None, ignore=basis.structure.spec.ignore)
    if key is not None:
        out |= adata.var[f"{key}_score"].isna().to_numpy()
    out[found.genes] = True
    out |= alike.beside(adata, found.genes, basis.request)
    score[:, out] = -np.inf
    may = np.tile(~out, (len(leaving), 1))
    rows = basis.limits(adata, ~out)
    if rows is not None:
        used = rows.sums(found.genes)
        for place, gene in enumerate(leaving):
            may[place] &= rows.no_worse(gene)
            rest = used - rows.sums([gene])
            score[place, ~(rows.within(rest) & rows.enough(rest))] = -np.inf
    return Replacements(losses[places], needless, lost, score, may)


def free_for(
    adata: AnnData,
    found: Found,
    leaving: Index,
    instead: Replacements,
    tolerance: float = TOLERANCE,
    *,
    stay: NDArray[np.bool_] | None = None,
    anything: bool = True,
) -> FreePlaces | None:
    """Return which genes may stand in some places of a panel, whatever is chosen for the others.

    Some rows of ``.var`` `stay`.  `anything`: whether any gene may be offered, which limits forbid.
    None for a panel that was chosen for the worst of batches, or for draws of what a platform
    detects: it is not evaluated by these.
    """
    basis, key = found.basis, found.named.key
    across = "mean" if key is None else results.request_of(adata, key).across
    if across == "worst" or basis.detection.varies:
        return None
    may = instead.may if stay is None else instead.may & ~stay[leaving, None]
    request, kin = basis.request, np.arange(adata.n_vars)
    for rows in alike.sets(adata, request.limits, request.symbols).values():
        kin[rows] = rows[0]
    free = anything and request.limits is None
    at = {int(gene): place for place, gene in enumerate(found.genes)}
    return free_places(
        found.measured,
        np.array([at[int(gene)] for gene in leaving], dtype=np.intp),
        may,
        instead.lost,
        np.where(may.any(axis=1) & free, instead.loss, np.inf),
        tolerance=tolerance,
        kin=kin,
    )


def beside(
    adata: AnnData, found: Found, stay: Index, barred: NDArray[np.bool_] | None = None
) -> Candidates:
    """Return genes that may join some that stay, within all that the panel was asked for.

    Those that stay are in whatever holds of them on their own.
    """
    request, detection = found.basis.request, found.basis.detection
    ignore = found.basis.structure.spec.ignore
    out = names.not_to_choose(adata, request.exclude, ignore=ignore, symbols=request.symbols)
    if detection.orderable is not None:
        out |= ~detection.orderable
    if barred is not None:
        out |= barred
    rows = found.basis.limits(adata, ~out | np.isin(np.arange(adata.n_vars), stay))
    return alike.apart(adata, joining(stay, ~out, rows, detection), request)


def joining(
    stay: Index, may: NDArray[np.bool_], rows: Rows | None, detection: Detection | None = None
) -> Candidates:
    """Return genes that may join some that stay, which no limit on a single gene rules out."""
    genes = Candidates.of(len(may), stay)
    return replace(
        genes,
        allowed=may | genes.included,
        rows=None if rows is None else rows.sparing(stay),
        detection=Detection() if detection is None else detection,
    )


def in_place_of(
    criterion: Criterion, stay: Index, gone: Sequence[int], come: Index
) -> tuple[Index, Index, Array]:
    """Return which of the genes that come is in the place of which that is gone, and its score.

    In all the substitution scores beside those that stay are as large as can be.  A gene that is
    gone may be none of the data (−1), which has no score.
    """
    score = np.full((len(gone), len(come)), np.nan)
    with few_threads(criterion.rank):
        for place, row in enumerate(gone):
            if row >= 0:
                measured = MeasuredPanel(criterion, np.append(stay[stay != row], row))
                score[place] = measured.substitutions(np.array([row])).score[0, come]
    of, by = linear_sum_assignment(np.clip(np.nan_to_num(score), 0.0, 1.0), maximize=True)
    return of, by, score[of, by]


def of_panel(
    adata: AnnData,
    found: Found,
    named: Named,
    argument: str,
    *,
    missing: Collection[str] = (),
    symbols: str | None = None,
) -> Index:
    """Return rows of ``.var`` of some genes, which must be of the panel, `missing` ones aside."""
    strange = adata.var_names[named.genes[~np.isin(named.genes, found.genes)]]
    outside = f"genes that are not in the panel: {listed(strange)}" if len(strange) else ""
    unknown = [name for name in named.absent if name not in missing]
    if unknown:
        lookup = names.Lookup(adata, symbols)
        raise NotFound(
            argument,
            NO_VALUE,
            f"has names that are missing in {lookup.where}: {listed(unknown)}"
            f"{outside and f', and {outside}'}",
            f"choose genes of the panel{lookup.hints(unknown)}",
        )
    if outside:
        raise InvalidValue(argument, NO_VALUE, f"has {outside}", "choose genes of the panel")
    return named.genes


def absent(adata: AnnData, named: Named) -> list[str]:
    """Return names of a panel that are not in the data; selections of ``tl`` keep theirs."""
    kept = () if named.key is None else adata.uns.get(named.key, {}).get("absent", ())
    return [*named.absent, *map(str, kept)]


def must_haves(adata: AnnData, named: Named) -> NDArray[np.bool_]:
    """Whether each row of ``.var`` had to be in a panel: of a selection, or as its file says."""
    if named.key is not None:
        before = adata.uns.get(named.key, {}).get("must_have")  # those of a panel that was extended
        if before is not None:
            return np.array(adata.var_names.isin(np.atleast_1d(before)), dtype=bool)
        return np.array(adata.var[f"{named.key}_included"], dtype=bool)
    found = np.zeros(adata.n_vars, dtype=bool)
    for name, said in named.in_file("must_have").items():
        if is_yes(said):
            found[list(named.rows[name])] = True
    return found
