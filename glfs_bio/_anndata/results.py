"""Results with the cells: selections in ``.var``, and everything in one envelope in ``.uns``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks, codec
from ..errors import InvalidValue, NotFound, listed, short
from ..options import Request
from ..solvers.panel import NONE, OPEN, STATES, TOLERANCE
from . import read, stale

if TYPE_CHECKING:
    from anndata import AnnData

    from ..solvers.panel import Candidates, Panel

#: Parameters of a selection that leave some panels out.
_CONSTRAINTS = ("include", "exclude", "limits", "platform")
#: The function that writes each kind of result.  One of a panel is under the key of the panel and
#: its kind, such as ``"glfs_evaluation"``, unless a call names another key.
KINDS = {
    "selection": "pp.select_genes",
    "structure": "pp.structure",
    "all_genes": "tl.evaluate_panel",
    "evaluation": "tl.evaluate_panel",
    "comparison": "tl.evaluate_panel",
    "explanation": "tl.explain_panel",
    "stability": "tl.stability",
    "enrichment": "tl.enrich",
    "order": "tl.order_panel",
    "proof": "tl.prove_panel",
    "names": "tl.resolve_genes",
    "class": "tl.classify",
}
#: What is known of the genes of the best panels, and of all that are nearly as good: columns of a
#: selection, with what a panel may lose.
CERTIFICATES = {"certificate": 0.0, "certificate_within": TOLERANCE}
#: Columns of every selection, and of one for a platform.
_OF_SELECTION = ("weight", "loss", "score", "rank", "selected", "included")
_OF_PLATFORM = ("orderable", "efficiency", "spread", "off_target", "signal")
#: Of selections under no other key, and of panels that have none.
KEY = "glfs"
#: Packages that every number depends on.
_NUMERICAL = ("glfs-bio", "numpy", "scipy", "scikit-learn", "anndata")
_version = cache(version)  # which parses the metadata of a package, for some 10 ms


def key_of(adata: AnnData, panel: object) -> str:
    """Return the key of a panel, :data:`KEY` for one that is a list, a gene or a file."""
    if not isinstance(panel, str):
        return KEY
    is_key = f"{panel}_selected" in adata.var or panel in adata.var or panel in adata.uns
    return panel if is_key else KEY


def key_for(
    adata: AnnData, kind: str, key_added: Any, of: str | None = None, *, suffix: str | None = None
) -> str:
    """Return where a result is written, where nothing else of ours is; None: by its panel, `of`."""
    read.check(adata)
    key = key_added if key_added is not None or of is None else f"{of}_{suffix or kind}"
    checks.keys(key_added=key)
    usual_kind = {f"{KEY}_{name}": name for name in KINDS}.get(str(key))
    written_kind = kind_of(adata.uns.get(key)) or usual_kind
    if written_kind not in (None, kind):
        function = f"`glfs_bio.{KINDS[written_kind]}`"
        raise InvalidValue(f"`key_added={short(key)}` is of {function}: choose another key")
    return str(key)


def last(
    adata: AnnData, kind: str | None = None, key: str | None = None, *, holds: str = "kind"
) -> str:
    """Return `key`, of a result or its panel; None: that of the last result of a kind, or of any,
    that `holds` something.
    """
    read.check(adata)
    if key is not None:
        of_panel = f"{key}_{kind}"
        return of_panel if kind_of(adata.uns.get(key)) != kind and of_panel in adata.uns else key
    numbers = {
        name: number
        for name, number in _numbers(adata).items()
        if kind in (None, kind_of(adata.uns[name])) and holds in adata.uns[name]
    }
    return max(numbers, key=lambda name: numbers[name], default=f"{KEY}_{kind}")


def selection_key(adata: AnnData, key: str | None) -> str:
    """Return `key`; None: :data:`KEY`, or where that is no selection the last one."""
    newest = last(adata, "selection", key)
    usual = kind_of(adata.uns.get(KEY)) == "selection" or newest not in adata.uns
    return KEY if key is None and usual else newest


def kind_of(entry: Any) -> str | None:
    """Return the kind of a stored result; None for what others wrote."""
    if not isinstance(entry, Mapping) or "written" not in entry:
        return None
    kind = str(codec.scalar(entry.get("kind")))
    return kind if kind in KINDS else None


def _numbers(adata: AnnData) -> dict[str, int]:
    """Return the numbers of the results in the order of writing, by key."""
    results = {key: entry for key, entry in adata.uns.items() if kind_of(entry)}
    return {key: int(codec.scalar(entry["written"])) for key, entry in results.items()}


def envelope(
    kind: str,
    params: Mapping[str, Any],
    made_of: Mapping[str, Any] | None = None,
    packages: Iterable[str] = (),
    **content: Any,
) -> dict[str, Any]:
    """Return a result as ``.uns`` keeps it, with what it was asked for and is of, and versions."""
    entry = {
        **content,
        "kind": kind,
        "params": {name: codec.storable(value) for name, value in params.items()},
        "versions": {package: _version(package) for package in (*_NUMERICAL, *packages)},
    }
    return entry if made_of is None else entry | {"made_of": dict(made_of)}


def columns_of(panel: Panel, genes: Candidates, names: pd.Index, prefix: str) -> pd.DataFrame:
    """Return what a panel and its platform say of every gene.

    Genes that could not be selected have weight 0, no score and no rank, and are not selected.
    """
    columns = {
        "weight": panel.weights,
        "loss": panel.losses,
        "score": panel.scores,
        "rank": panel.ranks.astype(float),
        "selected": panel.ranks <= panel.n_selected,
    }
    of_candidates = pd.DataFrame(columns, names[genes.allowed])
    frame = spread(of_candidates.add_prefix(f"{prefix}_"), names)
    frame[f"{prefix}_included"] = genes.included
    for name, tolerance in CERTIFICATES.items():
        frame[f"{prefix}_{name}"] = certificates(panel, genes, tolerance)
    for name in _OF_PLATFORM:
        of_genes = getattr(genes.detection, name)
        if of_genes is not None:
            frame[f"{prefix}_{name}"] = of_genes
    return frame


def certificates(panel: Panel, genes: Candidates, tolerance: float) -> pd.Categorical:
    """Return what is known of every gene, for panels that lose at most a share of the best."""
    bounds = panel.certificates
    state = STATES.index(OPEN if bounds is None else NONE)
    codes = np.full(len(genes.allowed), state, dtype=np.int8)
    if bounds is not None:
        codes[genes.allowed] = bounds.codes(tolerance)
    return pd.Categorical.from_codes(codes, pd.Index(STATES, dtype=object))


#: Columns of numbers that are 0 for genes which a selection did not look at.
_ZERO_ELSEWHERE = ("_weight", "_loss", "_efficiency", "_spread", "_off_target", "_signal")


def spread(frame: pd.DataFrame, names: pd.Index) -> pd.DataFrame:
    """Return the columns of some genes for all of others' names."""
    if frame.index.equals(names):
        return frame
    columns = {}
    for name, column in frame.items():
        number = 0.0 if str(name).endswith(_ZERO_ELSEWHERE) else np.nan
        missing: Any = {"b": False, "O": NONE}.get(column.dtype.kind, number)
        columns[name] = column.reindex(names, fill_value=missing)
    return pd.DataFrame(columns, index=names)


def selected(panel: Panel, request: Request, **content: Any) -> dict[str, Any]:
    """Return a panel for ``.uns``: an envelope that brings along what it was chosen with."""
    shares = {"preserved": panel.preserved, "optimality": panel.optimality}
    optional: dict[str, Any] = {name: values for name, values in shares.items() if len(values)}
    if panel.certificates is not None:
        optional["tolerance"] = TOLERANCE
    return envelope(
        "selection",
        request.arguments(),
        request=codec.text_of(request),
        structure=codec.storable(request.structure),
        n_genes=panel.n_selected,
        n_tested=len(panel.scores),
        **panel.info,
        **optional,
        **content,
    )


def store(
    adata: AnnData,
    key: str,
    entry: Mapping[str, Any],
    **contents: Mapping[str, Any] | pd.DataFrame | None,
) -> None:
    """Put an envelope into ``.uns``, and columns of ``obs`` and ``var`` and arrays of ``obsm`` and
    ``varm`` beside it; nothing writes elsewhere.

    Files keep no None among texts, and not every dtype of pandas: texts are objects, a missing one
    is ``""``.  Another selection under a key removes what was better than the one before, and what
    its platform was to the genes.
    """
    is_there = key in adata.uns or f"{key}_selected" in adata.var
    if is_there and entry.get("kind") == "selection":
        forget_better(adata, key)
        forget(adata, [f"{key}_{name}" for name in _OF_PLATFORM])
    _put(adata, **contents)
    written = max(_numbers(adata).values(), default=0) + 1
    adata.uns[key] = in_files(entry) | {"written": written}


def forget_better(adata: AnnData, key: str) -> None:
    """Remove the better panel that a proof stored beside the selection under `key`, if any."""
    better = f"{key}_best"
    if kind_of(adata.uns.get(better)) == "selection" and adata.uns[better].get("best_of") == key:
        del adata.uns[better]
        forget(adata, [name for name in adata.var if name.startswith(f"{better}_")])


def forget(adata: AnnData, columns: Collection[str]) -> None:
    """Remove columns of ``.var`` that an earlier result left, where they are."""
    if not adata.var.columns.intersection(list(columns)).empty:
        adata.var = adata.var.drop(columns=columns, errors="ignore")


def revise(
    adata: AnnData, key: str, changed: Mapping[str, Any], var: pd.DataFrame | None = None
) -> None:
    """Change parts of a result, which stays in its place among those that were written."""
    _put(adata, var=var)
    adata.uns[key] = {**adata.uns[key], **in_files(changed)}


def _put(adata: AnnData, **contents: Any) -> None:
    """Put columns and arrays into attributes of an object."""
    for attribute, values in contents.items():
        for name in () if values is None else values:
            container = getattr(adata, attribute)  # of a view another one after each
            is_table = attribute in ("obs", "var")
            container[name] = _column(values[name], container.index) if is_table else values[name]


def in_files(value: Any) -> Any:
    """Return an entry, or a value of it, as files keep it."""
    if isinstance(value, Mapping):
        return {name: in_files(item) for name, item in value.items()}
    if isinstance(value, pd.DataFrame):
        rows = _plain(value.index).rename(value.index.name)
        columns = {str(name): _column(value[name], rows) for name in value}
        return pd.DataFrame(columns, rows, pd.Index(list(columns), dtype=object))
    if isinstance(value, np.ndarray | pd.Index | pd.Series):
        return np.asarray(_plain(value))
    return codec.NONE if value is None else value


def _plain(values: Any) -> Any:
    """Return numbers and booleans as they are, and others as texts, ``""`` for a missing one."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values
    return pd.Index(["" if pd.isna(value) else str(value) for value in values], dtype=object)


def _column(values: Any, index: pd.Index) -> pd.Series:
    """Return a column as files keep it, for an index, whatever its own."""
    column = pd.Series(values).set_axis(index).infer_objects()
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.rename_categories(_plain(column.cat.categories))
    plain = _plain(column)
    return column if plain is column else pd.Series(plain, index=index, dtype=object)


def entry(
    adata: AnnData, key: str, kind: str, *needs: str, argument: str = "key"
) -> dict[str, Any]:
    """Return the result of a kind in ``.uns[key]``; `argument` is what named it."""
    read.check(adata)
    checks.texts(or_none=False, **{argument: key})
    result: dict[str, Any] = adata.uns.get(key, {})
    if kind_of(result) != kind or not result.keys() >= set(needs):
        text = f"`{argument}={short(key)}` is no result of `glfs_bio.{KINDS[kind]}` in `adata.uns`"
        contents = f" with {listed(needs)}" if needs else ""
        raise NotFound(f"{text}{contents}: run it first, or choose another key")
    return result


def current(
    adata: AnnData, key: str, kind: str, *needs: str, argument: str = "key"
) -> dict[str, Any]:
    """Return the result of a kind in ``.uns[key]``, of the selection and matrix that there are."""
    result = entry(adata, key, kind, *needs, argument=argument)
    why = stale.why_outdated(adata, result)
    if why is not None:
        text = f"`{argument}={short(key)}` is outdated: {why}"
        raise InvalidValue(f"{text}: run `glfs_bio.{KINDS[kind]}` again")
    return result


def request_of(adata: AnnData, key: str) -> Request:
    """Return what the selection under `key` was asked for.

    A stored structure that is gone is computed again, with the same parameters.
    """
    try:
        request = Request.restored(entry(adata, key, "selection", "request")["request"])
    except TypeError as error:  # of an argument that is no more
        text = f"`key={short(key)}` is a selection of another version of the package"
        raise InvalidValue(f"{text}: run `glfs_bio.pp.select_genes(adata)` again") from error
    stored_key = request.structure.stored_key
    if stored_key in adata.uns and stored_key in adata.varm:
        return request
    return request.but(stored_key=None)


def ranked(adata: AnnData, key: str, *, only: str = "selected") -> pd.DataFrame:
    """Return the columns of the selection under `key`, without the prefix, the best gene first.

    `only` is ``"selected"``, or ``"tested"`` for every gene that has a score.
    """
    read.unique_names(adata)
    checks.texts(key=key)
    columns = [f"{key}_{name}" for name in _OF_SELECTION]
    missing = [name for name in columns if name not in adata.var]
    if missing:
        text = f"`key={short(key)}` is no selection, as `adata.var` has no column {missing[0]}"
        raise NotFound(f"{text}: run `glfs_bio.pp.select_genes(adata)` first")
    frame = adata.var[columns].set_axis(list(_OF_SELECTION), axis=1)
    frame = frame.astype({"selected": bool, "included": bool})
    frame = frame[frame["selected"] if only == "selected" else frame["score"].notna()]
    if frame.empty:
        raise InvalidValue(f"`key={short(key)}` has no selected gene: choose another selection")
    return frame.sort_values("rank", kind="stable")


def scores(adata: AnnData, key: str, symbols: str | None) -> pd.Series:
    """Return the scores of the tested genes by name, the largest first.

    Genes without a name are left out, and of several with one name the best remains.
    """
    frame = ranked(adata, key, only="tested")
    genes = pd.Index(read.symbols(adata, symbols).loc[frame.index], dtype=object)
    series = frame["score"].astype(float).set_axis(genes)
    series = series[series.index.notna()].sort_values(ascending=False, kind="stable")
    series = series[~series.index.duplicated()]
    if series.empty:
        text = f"`symbols={short(symbols)}` names no candidate gene"
        raise InvalidValue(f"{text}: choose another column")
    return series


def frequency(adata: AnnData, key: str) -> pd.Series:
    """Return the selection frequencies of ``tl.stability``, the largest first."""
    if f"{key}_frequency" not in adata.var:
        raise NotFound(f"`key={short(key)}` has no frequencies: run `glfs_bio.tl.stability` again")
    column = adata.var[f"{key}_frequency"].dropna()
    return column.sort_values(ascending=False, kind="stable")


def constraints_of(entry: Mapping[str, Any]) -> str:
    """Return among which panels a selection is nearly the best; empty: among all of its size."""
    params = entry.get("params", {})
    constraints = [codec.restored(params.get(name)) for name in _CONSTRAINTS]
    return "within its constraints" if any(value is not None for value in constraints) else ""


def n_chosen(entry: Mapping[str, Any]) -> int:
    """Return how many genes the selections of a ``tl.stability`` chose, in the mean."""
    return round(float(np.mean(entry["n_genes"]))) - int(entry.get("n_included", 0))


def preserved_of(entry: Mapping[str, Any]) -> str:
    """Return what the shares of a result are shares of."""
    preserve = codec.restored(entry.get("params", {}).get("preserve", "structure"))
    if isinstance(preserve, str):
        return f"the {preserve}" if preserve in ("structure", "expression") else preserve
    return " and ".join(preserve) if isinstance(preserve, Mapping) else "the genes to preserve"
