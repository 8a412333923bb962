"""The genes of a panel before they are ordered: which cannot be, and what replaces them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from .._anndata import names as names_of
from ..criterion.panel import MeasuredPanel
from ..data.threads import few_threads
from ..errors import InvalidValue, arg
from ..platform import order
from ..selection import Candidates, best_panel

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Index
    from ..criterion.criterion import Criterion
    from ..platform.names import Resolver
    from ..solvers.constraints import Rows
    from ._resolve import Resolution


@dataclass(frozen=True)
class Draft:
    """A panel before it is ordered."""

    #: One row per gene that is asked for: its ``row`` of ``.var``, or −1; ``name`` there; what that
    #: is (:meth:`~glfs_bio.platform.names.Resolver.resolve`); and ``fault``, why it cannot be
    #: ordered
    items: pd.DataFrame
    #: The same for all genes of the data
    every: pd.DataFrame
    resolver: Resolver
    rows: Rows | None = None
    #: Rows of ``.var`` that are on the catalogue
    beside: Index = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    #: Genes of the panel that are on the catalogue
    not_ordered: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        adata: AnnData,
        named: names_of.Named,
        found: Resolution,
        form: order.OrderForm,
        *,
        min_probes: int,
        symbols: str | None,
    ) -> Draft:
        """Look the names of a panel up, in the data and in the table of genes."""
        faults = partial(_faults, found, form, min_probes)
        every = faults(found.frame).assign(
            name=adata.var_names.astype(object), row=np.arange(adata.n_vars)
        )
        lookup = names_of.Lookup(adata, symbols).by_name
        absent = list(named.absent)
        if named.key is not None:  # tl.extend_panel keeps names that are not in the data
            absent += map(str, adata.uns.get(named.key, {}).get("absent", ()))
        others = _placed(faults(found.resolver.resolve(absent)), every)
        if named.key is not None:
            items = pd.concat([every.iloc[named.genes], others])
        else:
            at = {name: place for place, name in enumerate(absent)}
            items = pd.concat(
                others.iloc[[at[name]]] if name in at else every.iloc[lookup[name]]
                for name in named.names
            )
        return cls(items.reset_index(drop=True), every, found.resolver)

    def only(self, orderable: NDArray[np.bool_] | None) -> Draft:
        """The same where no other gene of the data can be ordered; None: all can."""
        if orderable is None:
            return self
        out = np.append(~orderable, [False])  # the row of a name that is not in the data is −1
        items, every = (
            table.assign(
                fault=table["fault"].mask(
                    (table["fault"] == "") & out[table["row"]], "is no gene of the platform"
                )
            )
            for table in (self.items, self.every)
        )
        return replace(self, items=items, every=every)

    def without(self, adata: AnnData, catalogue: Any, symbols: str | None) -> Draft:
        """The same beside a catalogue, whose genes are not ordered."""
        other = names_of.named(adata, catalogue, symbols=symbols, argument="catalogue")
        absent = _placed(self.resolver.resolve(other.absent), self.every)
        beside = np.union1d(other.genes, absent["row"][absent["row"] >= 0]).astype(np.intp)
        places = {*absent["place"]} - {-1}
        items, every = self.items, self.every
        on_it = (
            items["row"].isin(beside)
            | items["place"].isin(places)
            | items["name"].isin(other.absent)
        )
        fault = every["fault"].where(~every["row"].isin(beside), "is on the catalogue")
        return replace(
            self,
            items=items[~on_it].reset_index(drop=True),
            every=every.assign(fault=fault),
            beside=beside,
            not_ordered=tuple(items["name"][on_it]),
        )

    def checked(self, rows: Rows | None) -> Draft:
        """The same with faults of genes beside those before them: the same gene, and limits."""
        items, every = self.items.copy(), self.every
        good = (items["fault"] == "") & (items["place"] >= 0)
        again = good & items["place"].where(good, -1 - items.index.to_series()).duplicated()
        items.loc[again, "fault"] = "is the gene of another name before it"
        if rows is None:
            return replace(self, items=items)
        rows = rows.sparing(self.beside)
        used = rows.sums(self.beside)
        for at in items.index[(items["fault"] == "") & (items["row"] >= 0)]:
            sums = used + rows.sums([items.at[at, "row"]])
            over = [
                name
                for name, much, most, before in zip(rows.names, sums, rows.most, used, strict=True)
                if much > max(most, before)
            ]
            if over:
                items.loc[at, "fault"] = f"is ruled out by limits ({', '.join(over)})"
            else:
                used = sums
        every = every.assign(
            fault=every["fault"].where(
                rows.allowed | (every["fault"] != ""), "is ruled out by limits"
            )
        )
        return replace(self, items=items, every=every, rows=rows)

    @property
    def refused(self) -> pd.DataFrame:
        """Genes that cannot be ordered."""
        return self.items[self.items["fault"] != ""]

    @property
    def left(self) -> pd.DataFrame:
        """The others."""
        return self.items[self.items["fault"] == ""].assign(replaces="", score=np.nan)

    @property
    def orderable(self) -> NDArray[np.bool_]:
        """Whether each gene of the data could be ordered."""
        return np.asarray(self.every["fault"] == "", dtype=bool)

    def replaced(self, criterion: Criterion, excluded: NDArray[np.bool_]) -> pd.DataFrame:
        """The genes that are asked for, each that is refused replaced.

        Those that come in preserve most beside the genes that stay.  Which of them is in the place
        of which gene is decided by substitution scores, in all as large as can be.
        """
        bad, left = self.refused, self.left
        stay = np.union1d(left["row"][left["row"] >= 0], self.beside).astype(np.intp)
        may = (
            self.orderable
            & ~excluded
            & ~self.every["place"].isin({*left["place"]} - {-1}).to_numpy()
        )
        may[bad["row"][bad["row"] >= 0].to_numpy(dtype=np.intp)] = False
        if may.sum() < len(bad):
            raise InvalidValue(
                "refused",
                "replace",
                f"finds {int(may.sum())} other genes that could be ordered, and {len(bad)} are "
                "needed",
                f"pass {arg('refused', 'drop')}",
            )
        may[stay] = True
        rows = None if self.rows is None else self.rows.sparing(stay)
        candidates = replace(Candidates.of(len(may), stay), allowed=may, rows=rows)
        panel = best_panel(criterion, len(stay) + len(bad), candidates)
        new = candidates.genes[panel.order[len(stay) : panel.n_selected]]
        score = np.zeros((len(bad), len(new)))
        with few_threads(criterion.rank):
            for place, row in enumerate(bad["row"]):
                if row >= 0:
                    measured = MeasuredPanel(criterion, np.append(stay[stay != row], row))
                    score[place] = measured.substitutions(np.array([row])).score[0, new]
        of, by = linear_sum_assignment(np.clip(score, 0.0, 1.0), maximize=True)
        come = self.every.iloc[new[by]].set_axis(bad.index[of])
        come = come.assign(replaces=bad["name"].iloc[of], score=score[of, by])
        return pd.concat([left, come]).sort_index()


def _placed(frame: pd.DataFrame, every: pd.DataFrame) -> pd.DataFrame:
    """Names that the data do not have, in the rows of genes that are the same by other names."""
    there = every[every["place"] >= 0].set_index("place")
    row = frame["place"].map(there["row"]).fillna(-1).astype(int)
    name = frame["place"].map(there["name"]).fillna(frame["name"])
    return frame.assign(row=row, name=name)


def _faults(
    found: Resolution, form: order.OrderForm, min_probes: int, frame: pd.DataFrame
) -> pd.DataFrame:
    """Names that were looked up, with why each cannot be ordered."""
    faults = order.faults(
        frame, form, strict=found.listed, n_probes=found.n_probes, min_probes=min_probes
    )
    return frame.assign(fault=faults)
