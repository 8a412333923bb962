"""Sections of the report, each of which says what its template needs.

A section is a function of the :class:`Subject` that returns the variables of the template
``templates/report/<its name>.html``, or None where there is nothing to tell.  To add one, write
both and add it to ``SECTIONS``, which is in the order of the page.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import pandas as pd

from .. import _signatures, codec, pl, tl
from .._anndata import results as stored
from .._anndata import summaries, umap
from ..cells.graph import MOST_EXACT
from ..errors import Message, arg, call
from ..measures import catalogue
from ..measures.catalogue import measured
from ..options import Limits
from ..pl._evaluation import read_by, readings_of
from ..solvers.certificate import EVERY
from ..tl._explain import ANY_GENE
from ._subject import Subject, image, picture

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

log = logging.getLogger(__name__)

#: Inches of a UMAP.
_MAP = (4.2, 3.9)
#: Gene sets matter up to this adjusted p-value; most of them in the table and in the picture.
_LEVEL, _TERMS, _BARS_OF_TERMS = 0.05, 50, 15
#: What the columns of the table of gene sets are called.
_OF_TERMS = {
    "n_overlap": "overlap",
    "n_set": "set size",
    "odds_ratio": "odds ratio",
    "es": "ES",
    "nes": "NES",
    "pvals": "p",
    "pvals_adj": "adjusted p",
}
#: Most genes in the pictures of contributions and of stability, that names stay readable on a page.
_BARS, _FREQUENT = 100, 100
#: Longest list that is shown in full.
_ITEMS = 20
#: Significant digits of a result.
_DIGITS = 3
_ELSEWHERE = {
    *("params", "versions", "path", "curve", "preserved", "optimality", "table", "absent"),
    "ruled_out",
}
#: Columns of an order besides rank, gene and id, as far as it has them.
_OF_ORDER = {
    "n_probe_sets": "probe sets",
    "efficiency": "efficiency",
    "mean_count": "mean count",
}
#: And those of a sheet.
_OF_SHEET = {
    "group": "group",
    "source": "source",
    "alternatives": "alternatives",
    "backup_of": "backup of",
}
#: What is forecast for the platform.
_OF_PLATFORM = (
    "preserved_on_platform",
    "counts_on_platform",
    *catalogue.GROUPS["forecast"].measures,
)
#: What a reader has to know of the facts of a selection.
_OF_FACTS = {
    "assay_noise": "variance of the noise of the target platform",
    "converged": "whether the solver reached its tolerance",
    "n_axes": "axes of the structure, above the noise",
    "graph_components": "connected components of the cell graph",
    "kkt": "largest violation of the optimality conditions, in units of λ",
    "lam": "λ, the penalty of a gene's weight",
    "method": "what ranked the genes",
    "n_genes": "selected genes",
    "n_iter": "iterations of the solver along the path",
    "n_tested": "candidate genes",
    "objective": "what was minimised",
}


def cells(subject: Subject) -> dict[str, Any]:
    """UMAPs by all genes and by the panel, in pictures of their own, with a legend in text."""
    from matplotlib import pyplot as plt

    adata = subject.adata
    compute = adata.n_obs <= MOST_EXACT if subject.umaps is None else subject.umaps
    if not compute and not umap.are_kept(adata, subject.key, subject.frame.index):
        if subject.umaps is None:
            log.warning(
                Message(
                    f"The report has no UMAPs, which take minutes for {adata.n_obs} cells: run "
                    f"{call('tl.panel_umap')} first, or pass {arg('umaps', True)}."
                )
            )
        else:
            log.warning(
                Message(
                    f"The report has no UMAPs, as {arg('umaps', False)} computes none: run "
                    f"{call('tl.panel_umap')} first to show them."
                )
            )
        return {"n_cells": adata.n_obs, "pictures": []}
    only_panel = len(subject.frame) == subject.adata.n_vars
    figures = [
        plt.figure(figsize=_MAP, layout="constrained") for _ in range(1 if only_panel else 2)
    ]
    axes = [figure.subplots() for figure in figures]
    pl.panel(subject.adata, subject.labels, key=subject.key, ax=axes, show=False)
    return {
        "labels": subject.labels,
        "only_panel": only_panel,
        "groups": _legend(axes[-1]),
        "pictures": [image(figure) for figure in figures],
    }


def _legend(ax: Axes) -> dict[str, str]:
    """Colours of groups by their names, taken out of a plot."""
    from matplotlib.colors import to_hex

    legend = ax.get_legend()
    if legend is None:
        return {}
    legend.remove()
    names = [text.get_text().replace(r"\$", "$") for text in legend.get_texts()]
    handles: list[Any] = legend.legend_handles
    colours = [handle.get_facecolor()[0] for handle in handles]
    return {name: to_hex(colour) for name, colour in zip(names, colours, strict=True)}


def types(subject: Subject) -> dict[str, Any] | None:
    """The genes by cell type."""
    if not subject.is_grouped:
        return None
    rows: Any = pl.dotplot(
        *(subject.of_panel, str(subject.labels)),
        key=subject.key,
        symbols=subject.symbols,
        show=False,
    )
    return {"labels": subject.labels, "picture": image(rows[0]["mainplot_ax"].figure)}


def markers(subject: Subject) -> dict[str, Any] | None:
    """The markers of each type, which are computed if they are not there."""
    result = subject.result("markers")
    if result is not None:
        adata, key = subject.adata, result.key
    elif not subject.is_grouped:
        return subject.of_another("markers")
    else:
        adata, key = subject.of_panel, "markers"
        if adata.X.min() < 0:
            return None
        tl.markers(adata, list(adata.var_names), str(subject.labels), key_added=key)
    entry = adata.uns[key]
    return {
        "labels": entry["params"]["labels"],
        "rows": [
            {**row, "markers": subject.renamed(str(row["markers"]), ", ")}
            for row in entry["table"].to_dict("records")
        ],
        "beta": entry["params"]["beta"],
        "picture": picture(pl.markers, adata, key=key, symbols=subject.symbols),
    }


def genes(subject: Subject) -> dict[str, Any]:
    """The table of genes, and the contribution of each."""
    rows = _rows(subject)
    return {
        "entry": subject.entry,
        "by_loss": subject.entry.get("objective") == "error",
        "rows": rows,
        "some_included": bool(subject.frame["included"].any()),
        "some_frequencies": "frequency" in rows[0],
        "some_support": "supports" in rows[0],
        "some_substitutes": "substitute" in rows[0],
        "n_bars": min(_BARS, len(subject.frame)),
        "picture": picture(
            pl.contributions, subject.adata, _BARS, key=subject.key, symbols=subject.symbols
        ),
    }


def quality(subject: Subject) -> dict[str, Any] | None:
    """The structure preserved, next to that of other panels; with labels, their recall."""
    result = subject.result("evaluation")
    if result is None:
        return subject.of_another("evaluation")
    adata, key, entry = subject.adata, result.key, result.entry
    table, readings = measured(entry), readings_of(entry)
    how = {"label": readings, "domain": readings_of(entry, "domain_accuracy")}
    values = table["value"]
    compared = "preserved" in values.index and np.isfinite(values["preserved"])
    return {
        "entry": entry,
        "share": table.loc["preserved"].to_dict() if compared else None,
        "best": values.get("best_preserved"),
        "domains": entry["params"]["domains"] if how["domain"] else None,
        "measures": table.drop(index="optimality", errors="ignore")  # that of the selection is said
        .dropna(subset="value")
        .reset_index()
        .to_dict("records"),
        "labels": str(entry["params"]["labels"]) if readings else None,
        "read_by": read_by(entry),
        "tables": [
            {
                "kind": kind,
                "how": how[kind][reading],
                "rows": rows.to_dict("records"),
                "few": list(rows["label"][rows["too_few"].astype(bool)]),
                "some_counts": bool(rows.get("counts_ratio", pd.Series(dtype=float)).notna().any()),
            }
            for (kind, reading), rows in entry["per_label"].groupby(["kind", "reading"], sort=False)
        ]
        if "per_label" in entry
        else [],
        "n_sets": len(entry.get("gene_sets", ())),
        "uncovered": summaries.uncovered(entry["gene_sets"]) if "gene_sets" in entry else [],
        "preserved": picture(pl.preserved, adata, key=key) if compared else None,
        "recall": picture(pl.labels, adata, key=key) if readings else None,
        "confusions": {
            text: picture(pl.confusion, adata, key=key, reading=one)
            for one, text in readings.items()
        },
        "imputation": picture(pl.imputation, adata, key=key)
        if f"{key}_r2" in adata.var and adata.var[f"{key}_r2"].notna().any()
        else None,
    }


def unexplained(subject: Subject) -> dict[str, Any] | None:
    """The axes that the panel leaves unexplained, and the cells that they concern."""
    result = subject.result("evaluation")
    if result is None:
        return None  # the section before has said why
    adata, key, table = subject.adata, result.key, result.entry["unexplained"]
    embedded = "X_umap" in adata.obsm or "X_pca" in adata.obsm
    sides = ("genes_up", "genes_down")
    return {
        "rows": [
            {**row, **{side: subject.renamed(str(row[side]), ", ") for side in sides}}
            for row in table.to_dict("records")
        ],
        "some_labels": "labels" in table,
        "picture": picture(pl.unexplained, adata, key=key)
        if embedded and f"{key}_unexplained" in adata.obs
        else None,
    }


def explanation(subject: Subject) -> dict[str, Any] | None:
    """Why each gene is in the panel."""
    result = subject.result("explanation")
    if result is None:
        return subject.of_another("explanation")
    table = result.entry["table"]
    rows = table.assign(
        name=subject.called.loc[table["gene"]].to_numpy(),
        axis=[subject.renamed(str(text), "/") for text in table["axis"]],
    )
    within = table.get("certificate_within")
    must_have = subject.frame.index[subject.frame["included"]]
    return {
        "rows": [
            {**row, "alternatives": subject.renamed(row["alternatives"], ", ")}
            for row in rows.to_dict("records")
        ],
        "some_support": "supports" in table,
        "some_labels": "expressed_in" in table,
        "within": subject.entry.get("tolerance"),
        "constrained": stored.constraints_of(subject.entry) != "",
        "n_certified": None
        if within is None
        else int(((within == EVERY) & ~table["gene"].isin(must_have)).sum()),
        "tolerance": result.entry["tolerance"],
        "joint_loss": result.entry["joint_loss"],
        "n_free": int((table["alternatives"] != "").sum()),
        "n_any": int((table["alternatives"] == ANY_GENE).sum()),
    }


def substitutes(subject: Subject) -> dict[str, Any] | None:
    """Return the substitutes of each gene."""
    result = subject.result("substitutes")
    if result is None:
        return subject.of_another("substitutes")
    rows = []
    for gene, table in result.entry["table"].query("place > 0").groupby("gene", sort=False):
        best, *further = table.sort_values("place").to_dict("records")
        rows.append(
            {
                **best,
                "name": subject.called[gene],
                "best": subject.called[best["substitute"]],
                "further": [
                    f"{subject.called[one['substitute']]} ({_scored(one)})" for one in further
                ],
            }
        )
    return {
        "min_score": result.entry["params"]["min_score"],
        "rows": rows,
        "alone": list(subject.called.loc[list(result.entry["irreplaceable"])]),
        "needless": list(subject.called.loc[list(result.entry["needless"])]),
    }


def limits(subject: Subject) -> dict[str, Any] | None:
    """The constraints that the panel meets, each with what the class says of it."""
    stated = subject.entry.get("params", {}).get("limits", "None")
    if isinstance(stated, str):
        return None
    facts = []
    for name, field in _signatures.parameters(Limits).items():
        if name in stated:
            said = field.summary.replace("`", "")
            facts.append((name, codec.restored(stated[name]), f"{said[:1].lower()}{said[1:]}"))
    out = subject.entry.get("ruled_out")
    return {"facts": facts, "ruled_out": [] if out is None else out.to_dict("records")}


def choice(subject: Subject) -> dict[str, Any]:
    """The number of genes, and the facts of the selection."""
    return {
        "entry": subject.entry,
        "picture": picture(pl.path, subject.adata, key=subject.key),
        "facts": [
            (name, value, _OF_FACTS.get(name, ""))
            for name, value in subject.entry.items()
            if name not in _ELSEWHERE and not isinstance(value, Mapping)
        ],
    }


def stability(subject: Subject) -> dict[str, Any] | None:
    """How often subsamples of the cells give the genes; or why this cannot be said."""
    result = subject.result("stability")
    if result is None:
        return subject.of_another("stability")
    adata, key, entry = subject.adata, result.key, result.entry
    size = min(_FREQUENT, stored.n_chosen(entry))
    consensus = adata.var_names[adata.var[f"{key}_consensus"].astype(bool)]
    return {
        "entry": entry,
        "n_consensus": len(consensus),
        "out": list(subject.called.loc[subject.frame.index.difference(consensus, sort=False)]),
        "instead": list(subject.called.loc[consensus.difference(subject.frame.index, sort=False)]),
        "picture": picture(pl.stability, adata, size, key=key, symbols=subject.symbols)
        if size
        else None,
    }


def enrichment(subject: Subject) -> dict[str, Any] | None:
    """The gene sets that are enriched in the panel."""
    result = subject.result("enrichment")
    if result is None:
        return None
    entry = result.entry
    table = entry["table"][entry["table"]["pvals_adj"] <= _LEVEL]
    n_bars = min(len(table), _BARS_OF_TERMS)
    return {
        "entry": entry,
        "level": _LEVEL,
        "n_enriched": len(table),
        "columns": {name: text for name, text in _OF_TERMS.items() if name in table},
        "terms": [
            {**row, "term": term, "genes": [name for name in str(row["genes"]).split(";") if name]}
            for term, row in table.head(_TERMS).to_dict("index").items()
        ],
        "picture": picture(pl.enrichment, subject.adata, n_bars, key=result.key)
        if n_bars
        else None,
    }


def order(subject: Subject) -> dict[str, Any] | None:
    """The order: what to send, what was checked, and what to expect of the platform."""
    result = subject.result("order")
    if result is None:
        return subject.of_another("order")
    entry = result.entry
    evaluated = subject.result("evaluation")
    expected = None if evaluated is None else measured(evaluated.entry)
    tables = {} if evaluated is None else evaluated.entry.get("forecast", {})
    return {
        "entry": entry,
        "genes": entry["table"].to_dict("records"),
        "columns": {name: text for name, text in _OF_ORDER.items() if name in entry["table"]},
        "texts": {name: text for name, text in _OF_SHEET.items() if name in entry["table"]},
        "checks": entry["checks"].to_dict("records"),
        "replaced": entry["replaced"].to_dict("records"),
        "expected": []
        if expected is None
        else expected[expected.index.isin(_OF_PLATFORM)].reset_index().to_dict("records"),
        **{
            name: tables[of].head(n).to_dict("records") if of in tables else []
            for name, of, n in (
                ("forecast", "per_label", None),
                ("leaks", "leaks", _ITEMS),
                ("exclusive_markers", "exclusive_markers", _ITEMS),
            )
        },
    }


def parameters(subject: Subject) -> dict[str, Any]:
    """Return the parameters and versions of all results."""
    found = {what: subject.result(what) for what in subject.results}
    of_results = {what: one.entry for what, one in found.items() if one is not None}
    return {"records": {"selection": subject.entry, **of_results}}


#: Heading and content of every section, in their order.
SECTIONS: dict[str, Callable[[Subject], dict[str, Any] | None]] = {
    "Cells": cells,
    "Genes": genes,
    "Genes by type": types,
    "Markers": markers,
    "Evaluation": quality,
    "Unexplained variation": unexplained,
    "Why each gene": explanation,
    "Substitutes": substitutes,
    "Constraints": limits,
    "Selection": choice,
    "Stability": stability,
    "Enrichment": enrichment,
    "Order": order,
    "Parameters and versions": parameters,
}


def lead(subject: Subject) -> dict[str, Any]:
    """The first sentences of the page."""
    best = float(subject.entry.get("optimality", [np.nan])[-1])
    return {
        "n_cells": subject.adata.n_obs,
        "entry": subject.entry,
        "optimality": np.floor(1000.0 * best) / 1000.0 if np.isfinite(best) else None,
        "within": stored.constraints_of(subject.entry),
    }


def plain(value: Any) -> str:
    """Return a parameter in text, as it was given."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {plain(item)}" for name, item in value.items())
    if isinstance(value, np.ndarray) and value.dtype == np.bool_:
        return f"{value.sum()} of {value.size}"
    if isinstance(value, np.ndarray | list | tuple):
        every = np.ravel(value) if isinstance(value, np.ndarray) else value
        items = [
            f"({plain(item)})" if isinstance(item, list) else plain(item) for item in every[:_ITEMS]
        ]
        return ", ".join(items) + (f", … ({len(every)})" if len(every) > _ITEMS else "")
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)


def digits(value: Any) -> str:
    """Return a result in text, with as many digits as people read."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:,}"
    if not isinstance(value, float | np.floating):
        return plain(value)
    if not np.isfinite(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 10**_DIGITS else f"{value:#.{_DIGITS}g}".rstrip(".")


def percent(value: float) -> str:
    """Return a share in text; the number and its unit stay on one line."""
    return f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def _rows(subject: Subject) -> list[dict[str, Any]]:
    """Rows of the table of genes."""
    rows = subject.frame[["rank", "loss", "weight", "included"]].copy()
    rows["rank"] = rows["rank"].astype(int)
    rows["id"] = rows.index
    rows["name"] = called = subject.called.loc[rows.index]
    rows["link"] = [
        subject.link and subject.link.replace("{gene}", quote(str(name), safe=""))
        for name in called
    ]
    for column, values in of_genes(subject).items():
        rows[column] = values
    stable = subject.result("stability")
    if stable is not None:
        rows["frequency"] = subject.adata.var[f"{stable.key}_frequency"]
    found: list[dict[str, Any]] = rows.to_dict("records")
    return found


def of_genes(subject: Subject) -> dict[str, pd.Series]:
    """Columns of the table of genes: the labels that a gene supports, and its substitute."""
    columns = {}
    why, instead = subject.result("explanation"), subject.result("substitutes")
    if why is not None:
        table = why.entry["table"].set_index("gene")
        if "supports" in table:
            columns["supports"] = table["supports"].fillna("")
        columns["substitute"] = _offered(subject, table)
    elif instead is not None:
        table = instead.entry["table"]
        best = table[table["place"] <= 1].set_index("gene").reindex(subject.frame.index)
        columns["substitute"] = _offered(subject, best)
    return columns


def _offered(subject: Subject, table: pd.DataFrame) -> pd.Series:
    """The best substitute of each gene, with its score; none where there is none."""
    scores = [f" ({_scored(row)})" for row in table.to_dict("records")]
    names = table["substitute"].map(subject.called).astype(object).fillna("").astype(str)
    texts = names.str.cat(scores)
    return texts.where(table["substitute"].fillna("") != "", "none")


def _scored(row: Mapping[Any, Any]) -> str:
    """The score of a substitute, and whether it is too low."""
    return f"{row['substitution_score']:.2f}{'' if row['acceptable'] else ', weak'}"
