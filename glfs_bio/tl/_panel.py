"""A panel, from any of its forms, and the criterion for its evaluation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from .._anndata import constraints, names, read, results
from .._anndata import platform as platforms
from .._anndata import target as targets
from .._anndata.structure import of_object, specified, structure_of
from .._anndata.tool import Result
from ..cells.cells import StructureSpec
from ..criterion.panel import MIN_SCORE, MeasuredPanel
from ..criterion.platform import AS_REFERENCE, Detection
from ..data.threads import few_threads
from ..errors import InvalidValue, caution, note, quoted, short, subject
from ..options import Preserve, Request
from ..selection import check_batches, warn_of_noise
from ..solvers.panel import Problem, adds_nothing
from ..vendors.sheets import is_yes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.names import Named
    from .._anndata.structure import Structure
    from .._typing import Array, Index
    from ..criterion.criterion import Criterion
    from ..solvers.constraints import Rows

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

    @property
    def layer(self) -> str | None:
        """Layer of the structure."""
        return self.structure.spec.layer

    def limits(self, adata: AnnData, allowed: NDArray[np.bool_] | None = None) -> Rows | None:
        """Return the limits of the request as rows over all genes; None where there are none."""
        return constraints.rows(adata, self.request, allowed=allowed, detection=self.detection)

    def record(self) -> dict[str, Any]:
        """Return what it is, for ``params``."""
        target = {name: getattr(self.request, name) for name in ("preserve", "cell_weights")}
        return target | {"structure": self.structure.spec}


@dataclass(frozen=True)
class GenePanel:
    """A panel in the rows of ``.var``, and what it is evaluated by."""

    #: In the rows of ``.var``
    named: Named
    basis: Basis

    @property
    def genes(self) -> Index:
        """Rows of ``.var``."""
        return self.named.genes

    @cached_property
    def preserved(self) -> Array:
        """Preserved share of the first genes each."""
        return preserved_by(self.basis.criterion, self.genes)

    @cached_property
    def measured(self) -> MeasuredPanel:
        """The panel with E once its genes are measured."""
        return MeasuredPanel(self.basis.criterion, self.genes)

    @cached_property
    def losses(self) -> Array:
        """What the panel loses without each gene."""
        return self.basis.criterion.losses(self.genes)

    def result(self, adata: AnnData, content: Mapping[str, Any], returned: str = "table") -> Result:
        """Return what a tool computed of the panel."""
        made_of = results.made_of(adata, self.basis.layer, [self.named.key_and_genes])
        return Result(content, returned, self.basis.record(), made_of)


def find(adata: AnnData, panel: Any, *, symbols: str | None = None, **replaced: Any) -> GenePanel:
    """Find a panel, but for names that are not in the data, and what :func:`request_for` makes."""
    genes = names.panel(adata, panel, symbols=symbols, missing="warn")
    results.check_genes(adata, genes.key, "panel")
    request = request_for(adata, genes.key, symbols=symbols, **replaced)
    basis = basis_of(adata, request)
    say_overridden(adata, genes.key, request)
    return GenePanel(genes, basis)


def request_for(
    adata: AnnData,
    key: str | None = None,
    *,
    preserve: Any = None,
    layer: str | None = None,
    **replaced: Any,
) -> Request:
    """Return the request of a selection, or of another panel (None), with fields replaced.

    What is None stays as it is, and the structure of another panel is that of the object;
    `preserve` may be a target, or a ``Preserve``.  Batches count in their mean, or by `across`.
    """
    read.unique_names(adata)
    replaced = {"across": "mean"} | replaced
    fields = {name: value for name, value in replaced.items() if value is not None}
    if preserve is not None:
        preserve = preserve if isinstance(preserve, Preserve) else Preserve(preserve)
        if preserve.target is not None or preserve.cell_weights is not None:
            fields["cell_weights"] = preserve.cell_weights
        if preserve.target is not None:
            fields["preserve"] = preserve.target
    use_rep = None if preserve is None else preserve.use_rep
    say_unrecorded(adata, key)
    if key is not None and key in adata.uns:
        request = results.request_of(adata, key)
    elif "structure" in fields or use_rep is not None:
        request = Request()
    else:
        request = Request(structure=of_object(adata, layer))
    if isinstance(use_rep, StructureSpec):
        fields["structure"] = use_rep
    elif use_rep is not None:
        structure = specified(adata, StructureSpec(use_rep=use_rep))
        ignore = structure.ignore if structure.stored_key else request.structure.ignore
        fields["structure"] = replace(structure, ignore=ignore)
    request = replace(request, missing="warn", **fields)
    stored_key = request.structure.stored_key
    if layer is not None and stored_key is not None:
        raise InvalidValue(f"`layer={short(layer)}` is not that of {stored_key!r}: leave it out")
    return request if layer is None else request.but(layer=layer)


def say_unrecorded(adata: AnnData, key: str | None) -> None:
    """Say that an object has the columns of a selection, and not what it was selected with."""
    if key is not None and key not in adata.uns:
        text = "has no record: what it was selected with is not repeated"
        note(f"The selection under {quoted(key)} {text}.")


def say_overridden(adata: AnnData, key: str | None, request: Request) -> None:
    """Say in one line which arguments of a selection a call replaced by others."""
    if key is None or key not in adata.uns:
        return
    recorded = results.request_of(adata, key)
    values = recorded.arguments()
    replaced = [subject(name) for name in overridden(recorded, request) if values[name] is not None]
    if replaced:
        note(f"{', '.join(replaced)}: this call replaces what {quoted(key)} was selected with.")


def one_data_set(adata: AnnData, key: str, argument: str) -> None:
    """Refuse a selection from several datasets, of which an object is one."""
    if "data_sets" in adata.uns[key]:
        text = f"`{argument}={short(key)}` is a selection from several datasets"
        raise InvalidValue(f"{text}: concatenate them, and select with a `batch_key`")


def overridden(recorded: Request, request: Request) -> list[str]:
    """Return names of the arguments of a selection that a call replaced by others, with a word."""
    arguments, replaced = recorded.arguments(), request.arguments()
    names = [name for name in arguments if name not in _UNSAID]
    return [name for name in names if repr(arguments[name]) != repr(replaced[name])]


def basis_of(adata: AnnData, request: Request) -> Basis:
    """Return what panels of a request are evaluated by."""
    plain = names.settled(adata, request, "ignore")
    spec = plain.structure
    n_genes = results.most_genes(adata)
    if n_genes > adata.n_vars and adata.n_obs:
        text = f"`adata` has {adata.n_vars} genes, and results of {n_genes}: shares are of the"
        caution(f"{text} structure of these alone. Use the object with all genes.")
    target = targets.resolve(adata, plain)
    detection = platforms.of_genes(adata, request.platform, spec.layer, request.symbols)
    check_batches(request.across, one_set=spec.batch_key is None)
    structure = structure_of(adata, spec)
    instrument = detection.instrument(plain.resolved_structure.standardize)
    criterion = structure.criterion(target, worst=request.across == "worst", instrument=instrument)
    if not criterion.has_anything:
        warn_of_noise(criterion)
    return Basis(request, structure, criterion, detection)


def are_varying(criterion: Criterion) -> NDArray[np.bool_]:
    """Return whether each gene varies in any set of cells."""
    return np.asarray(np.any([cells.variance > 0 for cells in criterion.sets], axis=0))


def are_all(criterion: Criterion, order: Index) -> NDArray[np.bool_]:
    """Return whether the first genes each are all that vary: these preserve all, whatever it is."""
    varying = are_varying(criterion)
    return np.asarray(np.cumsum(varying[order]) == varying.sum())


def preserved_by(criterion: Criterion, order: Index) -> Array:
    """Return the preserved shares of the first genes each; NaN where these are all that vary."""
    is_all = are_all(criterion, order)
    if is_all.any():
        caution("The panel has all genes that vary, and no shares: use an object with more genes.")
    return np.where(is_all, np.nan, criterion.preserved(order))


def find_substitutes(
    adata: AnnData, panel: GenePanel, barred: NDArray[np.bool_], n: int
) -> tuple[pd.DataFrame, Array]:
    """Return at most `n` substitutes of each gene of a panel, the best first, and all losses.

    These, shape (len(panel), n_genes), are with every gene in the place of each.  Genes of the
    panel are no substitutes, nor are those that are `barred`, or that the selection could not have
    had, also by its limits.  A gene that adds nothing has none.
    """
    lost, score = panel.measured.substitutions()
    basis, genes = panel.basis, panel.genes
    score[(score <= 0.0) | adds_nothing(panel.losses)[:, None]] = -np.inf
    out = barred | no_candidates(adata, panel.named.key, basis.structure.spec.ignore)
    out[genes] = True
    out |= names.are_alike(adata, genes, basis.request)
    score[:, out] = -np.inf
    rows = basis.limits(adata, ~out)
    if rows is not None:
        used = rows.sums(genes)
        for row, gene in enumerate(genes):
            rest = used - rows.sums([gene])
            score[row, ~(rows.within(rest) & rows.meets_lower(rest))] = -np.inf
    order = np.argsort(-score, axis=1, kind="stable")[:, :n]
    leaves, rank = np.nonzero(np.isfinite(np.take_along_axis(score, order, axis=1)))
    comes = order[leaves, rank]
    pairs = {"gene": adata.var_names[genes[leaves]], "substitute": adata.var_names[comes]}
    table = pd.DataFrame(pairs | {"rank": rank + 1, "substitution_score": score[leaves, comes]})
    table["acceptable"] = table["substitution_score"] >= MIN_SCORE
    return table.assign(loss_with_substitute=lost[leaves, comes]), lost


def no_candidates(adata: AnnData, key: str | None, ignore: Any) -> NDArray[np.bool_]:
    """Return whether each gene cannot be selected, or could not by the selection under `key`."""
    out = names.not_to_choose(adata, None, ignore=ignore)
    return out if key is None else out | results.read_column(adata, key, "score").isna().to_numpy()


def joining_problem(
    adata: AnnData, panel: GenePanel, stay: Index, leaves: NDArray[np.bool_] | bool = False
) -> Problem:
    """Return which genes may join some that stay, within all that the panel was asked for."""
    request, detection = panel.basis.request, panel.basis.detection
    ignore = panel.basis.structure.spec.ignore
    out = names.not_to_choose(adata, request.exclude, ignore=ignore, symbols=request.symbols)
    out |= leaves
    if detection.orderable is not None:
        out |= ~detection.orderable
    rows = panel.basis.limits(adata, ~out | np.isin(np.arange(adata.n_vars), stay))
    problem = replace(
        joining(stay, ~out, rows, detection),
        criterion=panel.basis.criterion,
        random_state=request.structure.random_state,
        search=request.search,
        time_limit=request.time_limit,
    )
    return names.one_of_each_set(adata, problem, request)


def joining(
    stay: Index, may: NDArray[np.bool_], rows: Rows | None, detection: Detection = AS_REFERENCE
) -> Problem:
    """Return which genes may join some that stay, which no limit on a single gene rules out."""
    problem = Problem.of(len(may), stay)
    limits = None if rows is None else rows.sparing(stay)
    return replace(problem, allowed=may | problem.included, limits=limits, detection=detection)


def in_place_of(
    criterion: Criterion, stay: Index, gone: Sequence[int], come: Index
) -> tuple[Index, Index, Array]:
    """Return which of the genes that come is in the place of which that is gone, and its score.

    In all the substitution scores beside those that stay are as large as can be.  A gene that is
    gone may be none of the data (−1), which has no score.
    """
    score = np.full((len(gone), len(come)), np.nan)
    with few_threads(criterion.rank):
        for leaving, row in enumerate(gone):
            if row >= 0:
                measured = MeasuredPanel(criterion, np.append(stay[stay != row], row))
                score[leaving] = measured.substitutions(np.array([row]))[1][0, come]
    of, by = linear_sum_assignment(np.clip(np.nan_to_num(score), 0.0, 1.0), maximize=True)
    return of, by, score[of, by]


def absent(adata: AnnData, panel: Named) -> list[str]:
    """Return names of a panel that are not in the data; selections of ``tl`` keep theirs."""
    return [*panel.absent, *map(str, results.record(adata, panel.key).get("absent", ()))]


def must_haves(adata: AnnData, panel: Named) -> NDArray[np.bool_]:
    """Whether each row of ``.var`` had to be in a panel: of a selection, or as its file says."""
    if panel.key is not None:
        return np.asarray(results.read_column(adata, panel.key, "included"))
    had_to = np.zeros(adata.n_vars, dtype=bool)
    for name, mark in panel.in_file("must_have").items():
        had_to[list(panel.rows[name])] = is_yes(mark)
    return had_to


def with_shares(names: Sequence[str] | Array, shares: Array, order: Iterable[int]) -> str:
    """Return names in an order, each with its share, as text."""
    return ", ".join(f"{names[k]} ({100 * shares[k]:.0f} %)" for k in order)
