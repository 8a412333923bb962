"""The genes of a panel before they are ordered: which cannot be, and what replaces them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._anndata import alike
from .._anndata import names as names_of
from ..errors import InvalidValue, arg
from ..selection import best_panel
from ..vendors.names import NOT_FOUND
from ._panel import absent as absent_of
from ._panel import in_place_of, joining

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.names import Named
    from .._typing import Index
    from ..criterion.criterion import Criterion
    from ..options import Request
    from ..solvers.constraints import Rows
    from ..vendors.orders import OrderForm
    from ._resolve import Resolution

#: How names are found, or not, that say nothing of probes.
_DOUBTFUL = ("ambiguous", "double", "date")


@dataclass(frozen=True)
class Draft:
    """The genes of a panel before they are ordered: which cannot be, and what replaces them."""

    #: One row per gene that is asked for: its ``row`` of ``.var``, or −1; ``name`` there; what
    #: that is, see :meth:`.Resolver.resolve`; ``fault``, why it cannot be ordered; and
    #: ``unlisted``, whether that is as the list has no probes for it.
    items: pd.DataFrame
    #: The same for all genes of the data.
    every: pd.DataFrame
    found: Resolution
    #: Whether there is a list that says which genes have probes.
    probes_checked: bool = False
    rows: Rows | None = None
    #: Rows of ``.var`` that are on the catalogue, and genes of the panel that are, if there is one.
    beside: Index = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    not_ordered: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        adata: AnnData,
        named: Named,
        found: Resolution,
        form: OrderForm,
        *,
        min_probes: int,
    ) -> Draft:
        """Look the names of a panel up, in the data and in the table of genes."""
        strict = found.listed

        def judged(frame: pd.DataFrame, ids: Sequence[str]) -> pd.DataFrame:
            other = (pd.Series(ids, index=frame.index) != "") & (frame["id"] != ids)
            if not strict:
                frame = frame.assign(
                    id=frame["id"].mask(other, ids), found=frame["found"].mask(other, "id")
                )
            faults = form.faults(
                frame, strict=strict, n_probes=found.n_probes, min_probes=min_probes
            )
            unlisted = [f"has the id {gene_id}, which is not on the list" for gene_id in ids]
            fault = pd.Series(faults, index=frame.index)
            fault = fault.mask(other, unlisted) if strict else fault
            lacks = strict & (fault != "") & ~frame["found"].isin(_DOUBTFUL)
            return frame.assign(fault=fault, unlisted=lacks)

        known = named.ids_of_rows
        own = [known.get(row, "") for row in range(adata.n_vars)]
        every = judged(found.frame, own).assign(
            name=adata.var_names.astype(object), row=np.arange(adata.n_vars)
        )
        absent = absent_of(adata, named)
        ids = named.ids(absent)
        others = _placed(judged(found.resolver.resolve(absent, ids), ids), every)
        if named.key is not None:
            items = pd.concat([every.iloc[named.genes], others])
        else:
            at = {name: place for place, name in enumerate(absent)}
            items = pd.concat(
                (others.iloc[[at[name]]] if name in at else every.iloc[list(rows)]).assign(
                    asked=name
                )
                for name, rows in named.rows.items()
            )
        return cls(items.reset_index(drop=True), every, found, probes_checked=strict)

    def only(self, orderable: NDArray[np.bool_] | None) -> Draft:
        """The same where no other gene of the data can be ordered; None: all can."""
        if orderable is None:
            return self
        out = np.append(~orderable, [False])  # the row of a name that is not in the data is −1

        def judged(table: pd.DataFrame) -> pd.DataFrame:
            lacks = (table["fault"] == "") & out[table["row"]]
            fault = table["fault"].mask(lacks, "is no gene of the platform")
            return table.assign(fault=fault, unlisted=table["unlisted"] | lacks)

        items, every = judged(self.items), judged(self.every)
        return replace(self, items=items, every=every, probes_checked=True)

    def without(self, adata: AnnData, catalogue: Any, symbols: str | None) -> Draft:
        """The same beside a catalogue, whose genes are not ordered."""
        other = names_of.named(adata, catalogue, symbols=symbols, argument="catalogue")
        ids = other.ids(other.absent)
        absent = _placed(self.found.resolver.resolve(other.absent, ids), self.every)
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
        of_table = items["symbol"] + " (" + items["id"] + ")"
        doubled = (items["fault"] == "") & (items["found"] == "double")
        items.loc[doubled & items["candidates"].isin(of_table), "fault"] = NOT_FOUND["double"]
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

    def replaced(
        self,
        adata: AnnData,
        request: Request,
        criterion: Criterion,
        excluded: NDArray[np.bool_],
    ) -> pd.DataFrame:
        """The genes that are asked for, each that is refused replaced.

        Those that come in preserve most beside the genes that stay.  Which of them is in the place
        of which gene is decided by substitution scores, in all as large as can be.
        """
        bad, left = self.refused, self.left
        stay = np.union1d(left["row"][left["row"] >= 0], self.beside).astype(np.intp)
        may = self.free(left) & ~excluded
        may[bad["row"][bad["row"] >= 0].to_numpy(dtype=np.intp)] = False
        if may.sum() < len(bad):
            raise InvalidValue(
                "refused",
                "replace",
                f"finds {int(may.sum())} other genes that could be ordered, and {len(bad)} are "
                "needed",
                f"pass {arg('refused', 'drop')}",
            )
        candidates = alike.apart(adata, joining(stay, may, self.rows), request)
        panel = best_panel(criterion, len(stay) + len(bad), candidates)
        new = candidates.genes[panel.order[len(stay) : panel.n_selected]]
        of, by, score = in_place_of(criterion, stay, list(bad["row"]), new)
        come = self.every.iloc[new[by]].set_axis(bad.index[of])
        come = come.assign(replaces=bad["name"].iloc[of], score=score)
        return pd.concat([left, come]).sort_index()

    def free(self, ordered: pd.DataFrame) -> NDArray[np.bool_]:
        """Whether each gene of the data could be ordered beside some, which are other genes."""
        others = ~self.every["place"].isin({*ordered["place"]} - {-1})
        return np.asarray(self.orderable & others)


def _placed(frame: pd.DataFrame, every: pd.DataFrame) -> pd.DataFrame:
    """Names that the data do not have, in the rows of genes that are the same by other names."""
    there = every[every["place"] >= 0].set_index("place")
    row = frame["place"].map(there["row"]).fillna(-1).astype(int)
    name = frame["place"].map(there["name"]).fillna(frame["name"])
    return frame.assign(row=row, name=name)
