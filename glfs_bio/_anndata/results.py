"""Results with the cells: selections in ``.var``, and everything in one envelope in ``.uns``.

A result keeps what it is of, and is outdated where its selection or the matrix has changed.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from .. import checks, codec
from ..data.matrix import IN_MEMORY, RowMatrix
from ..errors import InvalidValue, NotFound, listed, short
from ..labels import NO_LABEL
from ..options import Request
from ..solvers.panel import NONE, OPEN, STATES, TOLERANCE
from . import read

if TYPE_CHECKING:
    from anndata import AnnData

    from .._typing import Index
    from ..solvers.panel import Panel, Problem

#: Parameters of a selection that leave some panels out.
_CONSTRAINTS = ("include", "exclude", "limits", "platform")
#: The function that writes each kind of result, under such keys as ``"glfs_evaluation"``.
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
#: Columns with what is known of the genes of all panels that may lose so much.
CERTIFICATES = {"certificate": 0.0, "certificate_within": TOLERANCE}
#: Columns of every selection, and of one for a platform.
_OF_SELECTION = ("weight", "loss", "score", "rank", "selected", "included")
_OF_PLATFORM = ("orderable", "efficiency", "spread", "off_target", "signal")
#: What columns that are no numbers hold, by its text; a missing flag is False.
_FLAGS = dict.fromkeys(("True", "TRUE", "1", "1.0"), True)
_FLAGS |= dict.fromkeys(("False", "FALSE", "0", "0.0", *NO_LABEL), False)
_WORDS: dict[str, Any] = dict.fromkeys(("selected", "included", "consensus"), _FLAGS)
_WORDS |= dict.fromkeys(CERTIFICATES, dict.fromkeys(NO_LABEL, OPEN) | {x: x for x in STATES})
#: First letters of values that other writers of files may keep as arrays of one.
_SCALARS = ("n_", "mean_", "of", "best", "method", "objective", "platform", "species", "source")
#: Of selections under no other key, and of panels that have none.
KEY = "glfs"
#: Packages that every number depends on.
_NUMERICAL = ("glfs-bio", "numpy", "scipy", "scikit-learn", "anndata")
_version = cache(version)  # which parses the metadata of a package, for some 10 ms
#: Digits of the sums over cells that do not depend on the container of a matrix.
_DIGITS = 6
#: A matrix that is not in memory is not looked at.
_UNKNOWN = "unknown"


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
    """Return `key`, of a result or its panel; None: that of the last that `holds` something."""
    read.check(adata)
    if key is not None:
        of_panel = f"{key}_{kind}"
        return of_panel if kind_of(adata.uns.get(key)) != kind and of_panel in adata.uns else key
    written = {}
    for name, result in adata.uns.items():
        if kind_of(result) and kind in (None, kind_of(result)) and holds in result:
            written[name] = int(codec.scalar(result["written"]))
    return max(written, key=written.__getitem__, default=f"{KEY}_{kind}")


def selection_key(adata: AnnData, key: str | None) -> str:
    """Return `key`; None: :data:`KEY`, or where that is no selection the last one."""
    newest = last(adata, "selection", key)
    usual = kind_of(adata.uns.get(KEY)) == "selection" or newest not in adata.uns
    return KEY if key is None and usual else newest


def kind_of(entry: Any) -> str | None:
    """Return the kind of a stored result; None for what others wrote."""
    written = codec.scalar(entry.get("written")) if isinstance(entry, Mapping) else None
    if not isinstance(written, int | float | np.number) or not -1e9 < written < 1e9:  # NaN
        return None
    kind = str(codec.scalar(entry.get("kind")))
    return kind if kind in KINDS else None


def record(adata: AnnData, key: Any) -> dict[str, Any]:
    """Return the result under a key, nothing where that is none; a damaged one is refused."""
    kind = kind_of(adata.uns.get(key))
    # a structure, which may be of other genes or cells, is looked at where it is used
    if kind is not None and key not in adata.obsm and not is_of(adata, key, {}):
        text = f"`key={short(key)}` was changed, or is of a later version"
        raise InvalidValue(f"{text}: run `glfs_bio.{KINDS[kind]}` again")
    result = {} if kind is None else adata.uns[key]
    scalars = [name for name in result if str(name).startswith(_SCALARS)]
    return {**result, **{name: codec.scalar(result[name]) for name in scalars}}


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


def certificates(panel: Panel, problem: Problem, tolerance: float) -> pd.Categorical:
    """Return what is known of every gene, for panels that lose at most a share of the best."""
    bounds = panel.certificates
    state = STATES.index(OPEN if bounds is None else NONE)
    codes = np.full(len(problem.allowed), state, dtype=np.int8)
    if bounds is not None:
        codes[problem.allowed] = bounds.codes(tolerance)
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


def of_panel(
    panel: Panel, problem: Problem, names: pd.Index, request: Request, key: str, **content: Any
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return columns of ``.var``, and an envelope with what a panel was chosen with."""
    columns = {
        "weight": panel.weights,
        "loss": panel.losses,
        "score": panel.scores,
        "rank": panel.ranks.astype(float),
        "selected": panel.ranks <= panel.n_selected,
    }
    of_candidates = pd.DataFrame(columns, names[problem.allowed])
    frame = spread(of_candidates.add_prefix(f"{key}_"), names)
    frame[f"{key}_included"] = problem.included
    for name, tolerance in CERTIFICATES.items():
        frame[f"{key}_{name}"] = certificates(panel, problem, tolerance)
    for name in _OF_PLATFORM:
        of_genes = getattr(problem.detection, name)
        if of_genes is not None:
            frame[f"{key}_{name}"] = of_genes
    shares = {"preserved": panel.preserved, "optimality": panel.optimality}
    optional: dict[str, Any] = {name: values for name, values in shares.items() if len(values)}
    if panel.certificates is not None:
        optional["tolerance"] = TOLERANCE
    return frame, envelope(
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


def store(adata: AnnData, key: str, entry: Mapping[str, Any], **contents: Any) -> None:
    """Put an envelope into ``.uns``, and columns and arrays beside it; nothing writes elsewhere.

    Another selection removes what was better than the one before, and its platform.
    """
    is_there = key in adata.uns or f"{key}_selected" in adata.var
    if is_there and entry.get("kind") == "selection" and "written" not in entry:
        forget_better(adata, key)
        forget(adata, [f"{key}_{name}" for name in _OF_PLATFORM])
    for attribute, values in contents.items():
        for name in () if values is None else values:
            container = getattr(adata, attribute)  # of a view another one after each
            is_table = attribute in ("obs", "var")
            container[name] = _column(values[name], container.index) if is_table else values[name]
    records = [record for record in adata.uns.values() if kind_of(record)]
    last_written = max((int(codec.scalar(record["written"])) for record in records), default=0)
    made_of = dict(entry.get("made_of", {}))
    if "panels" in made_of:
        made_of["columns"] = _columns(adata, entry["params"])
    stored: Any = in_files({"written": last_written + 1, **entry, "made_of": made_of})
    cells, genes = (contents.get(name, {}).get(key) for name in ("obsm", "varm"))
    stored["made_of"] |= {"numbers": seal({**stored, ".varm": genes}), "cells": seal(cells)}
    adata.uns[key] = stored


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
    result = record(adata, key)
    if kind_of(result) != kind or not result.keys() >= set(needs):
        maker = f"`glfs_bio.{KINDS[kind]}`{f' with {listed(needs)}' if needs else ''}"
        raise NotFound(f"`{argument}={short(key)}` is no result of {maker}: run it first")
    return result


def current(adata: AnnData, key: str, kind: str, *needs: str) -> dict[str, Any]:
    """Return the result of a kind in ``.uns[key]``, of the selection and matrix that there are."""
    result = entry(adata, key, kind, *needs)
    why = why_outdated(adata, result)
    if why is not None:
        raise InvalidValue(f"`key={short(key)}` is outdated: {why}: run `glfs_bio.{KINDS[kind]}`")
    return result


def restored(adata: AnnData, key: str, kind: str, record: Any, *, argument: str = "key") -> Any:
    """Return what the result under a key was asked for: data of strangers, or refused."""
    text = entry(adata, key, kind, "request", argument=argument)["request"]
    try:
        return record.restored(text)
    except Exception as error:
        text = f"`{argument}={short(key)}` is damaged, of another version, or has endless patterns"
        raise InvalidValue(f"{text}: run `glfs_bio.{KINDS[kind]}`") from error


def request_of(adata: AnnData, key: str) -> Request:
    """Return what the selection under `key` was asked for, by a stored structure if it is there."""
    request: Request = restored(adata, key, "selection", Request)
    stored_key = request.structure.stored_key
    is_stored = stored_key in adata.uns and stored_key in adata.varm
    return request if is_stored else request.but(stored_key=None)


def read_column(adata: AnnData, key: Any, name: str) -> pd.Series:
    """Return a column of a result in ``.var``, which other programs may keep as texts."""
    kind = "stability" if name in ("frequency", "consensus") else "selection"
    called, remedy = f"{key}_{name}", f"run `glfs_bio.{KINDS[kind]}` again"
    if called not in adata.var:
        raise NotFound(f"`key={short(key)}` is no {kind} with {called!r} in `adata.var`: {remedy}")
    column = read.find(adata, "var", called, "key").astype(object)
    if name in _WORDS:
        values = column.map(str).map(_WORDS[name])
    else:
        values = pd.to_numeric(column, errors="coerce")
        values = values.where(values.abs() < np.inf)
    if name == "rank":
        values = values.where(values.between(1, 2**31) & (values % 1 == 0) & ~values.duplicated())
    unread = {*column[values.isna()].map(str)} - NO_LABEL
    if unread:
        text = f"`key={short(key)}` has {short(min(unread))} in {called!r} of `adata.var`"
        raise InvalidValue(f"{text}: {remedy}")
    return values


def ranked(adata: AnnData, key: str, *, only: str = "selected") -> pd.DataFrame:
    """Return columns of a selection, best gene first: of genes ``"selected"``, or ``"tested"``."""
    read.unique_names(adata)
    checks.texts(key=key)
    frame = pd.DataFrame({name: read_column(adata, key, name) for name in _OF_SELECTION})
    check_genes(adata, key, "key", "n_genes")
    frame = frame[frame["selected"] if only == "selected" else frame["score"].notna()]
    if frame.empty:
        raise InvalidValue(f"`key={short(key)}` has no selected gene: choose another selection")
    return frame.sort_values("rank", kind="stable")


def scores(adata: AnnData, key: str, symbols: str | None) -> pd.Series:
    """Return the scores of the tested genes by name, largest first, of each name the best."""
    frame = ranked(adata, key, only="tested")
    genes = pd.Index(read.symbols(adata, symbols).loc[frame.index], dtype=object)
    series = frame["score"].set_axis(genes).sort_values(ascending=False, kind="stable")
    series = series[series.index.notna() & ~series.index.duplicated()]
    if series.empty:
        raise InvalidValue(f"`symbols={short(symbols)}` names no candidate: choose another column")
    return series


def frequency(adata: AnnData, key: str) -> pd.Series:
    """Return the selection frequencies of ``tl.stability``, the largest first."""
    return read_column(adata, key, "frequency").dropna().sort_values(ascending=False, kind="stable")


def constraints_of(entry: Mapping[str, Any]) -> str:
    """Return among which panels a selection is nearly the best; empty: among all of its size."""
    params = entry.get("params", {})
    if codec.restored(params.get("include")) is not None:
        return "beside the included genes"
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


def made_of(
    adata: AnnData, layer: str | None, panels: Iterable[tuple[str | None, Index]] = ()
) -> dict[str, Any]:
    """Return what a result is of: the matrix, and panels by key and rows of ``.var``."""
    recorded = {}
    for number, (key, genes) in enumerate(panels):
        names = np.array(adata.var_names[genes], dtype=object)
        about = {"key": codec.storable(key), "genes": names, "request": _request(adata, key)}
        recorded[str(number)] = about
    return {"layer": codec.storable(layer), "matrix": _sums(adata, layer), "panels": recorded}


def why_outdated(adata: AnnData, entry: Mapping[str, Any], key: str | None = None) -> str | None:
    """Return why a result is not of the matrix and panels of today, or of `key`; or None."""
    made_of = entry.get("made_of", {})
    if "matrix" not in made_of:
        return "its input is not recorded"
    reasons = [] if key is None or "of" not in entry else [difference(adata, key, entry)]
    reasons += [_change(adata, panel, key) for panel in made_of.get("panels", {}).values()]
    matrix = str(codec.scalar(made_of["matrix"]))
    matrix_today = _sums(adata, codec.restored(made_of["layer"]))
    if len({matrix, matrix_today} - {_UNKNOWN}) > 1:
        reasons.append("the matrix has changed")
    recorded = pd.Series(made_of.get("columns"), dtype=object)  # whatever strangers wrote there
    columns = _columns(adata, entry.get("params", {})).items()
    if any(codec.scalar(recorded.get(name, value)) != value for name, value in columns):
        reasons.append("labels or other columns of the cells have changed")
    return next(filter(None, reasons), None)


def difference(adata: AnnData, key: str, entry: Mapping[str, Any]) -> str | None:
    """Return what a stability was asked for otherwise than a selection, but for seeds, or None."""
    selection = record(adata, key)
    try:
        request, of_selection = (codec.value_of(of["request"]) for of in (entry, selection))
        for fields in (request, of_selection):
            del fields["structure"]["random_state"]
    except (LookupError, TypeError, ValueError):
        return "its request is not recorded"
    names = [name for name in request if request[name] != of_selection.get(name)]
    if not names and request["limits"] is None and entry["n_tested"] != selection["n_tested"]:
        names = ["number of candidates"]  # parts of the cells admit other genes to limits
    return f"it has another {listed(names)}" if names else None


def check_genes(adata: AnnData, key: str | None, argument: str, holds: str = "n_tested") -> None:
    """Refuse a selection of whose genes, in the panel (``"n_genes"``) or tested, some have left."""
    result = record(adata, key)
    n_genes = int(result.get(holds, 0)) if kind_of(result) == "selection" else 0
    n_left = int((read_column(adata, key, "rank") <= n_genes).sum()) if n_genes else 0
    if n_left < n_genes:
        text = f"is of {n_genes} genes, of which {n_left} are left: use the object with all"
        raise InvalidValue(f"`{argument}={short(key)}` {text}")


def most_genes(adata: AnnData) -> int:
    """Return the largest number of genes that a selection or a structure in the object is of."""
    n_genes = [0]
    for key in adata.uns:
        entry = record(adata, key)
        n_genes.append(int(codec.scalar(entry.get("n_tested", 0))))
        if "sets" in entry:
            with suppress(LookupError, TypeError):  # of strangers, who may have damaged it
                n_genes.append(np.size(entry["sets"]["0"]["variance"]))
    return max(n_genes)


def _request(adata: AnnData, key: Any) -> str:
    """Return the request of a selection as it is stored, ``""`` for another panel."""
    return str(codec.scalar(record(adata, key).get("request", "")))


def _change(adata: AnnData, panel: Mapping[str, Any], key: str | None) -> str | None:
    """Return why a panel is not the selection under `key` (None: its own) of today, or None."""
    own_key, genes = codec.scalar(panel["key"]), set(map(str, np.ravel(panel["genes"])))
    key = own_key if key is None else key
    if f"{key}_selected" not in adata.var:
        return None
    selected = set(adata.var_names[read_column(adata, key, "selected")])
    if genes != selected:
        return f"the selection under {key!r} has other genes now"
    is_recorded = key == own_key and key in adata.uns
    if is_recorded and codec.scalar(panel.get("request")) != _request(adata, key):
        return f"the selection under {key!r} has other parameters now"
    return None


def _columns(adata: AnnData, params: Mapping[str, Any]) -> dict[str, str]:
    """Return checksums of the columns of ``.obs`` that parameters name."""
    texts = codec.text_of(params).replace('\\"', '"').split('"') if adata.n_obs else []
    of_texts = {name: adata.obs[name].map(str, "ignore") for name in adata.obs if name in texts}
    named = {name: pd.factorize(np.ravel(column)) for name, column in of_texts.items()}
    return {name: checksum(codes, repr(list(of))) for name, (codes, of) in named.items()}


def _sums(adata: AnnData, layer: str | None) -> str:
    """Return a checksum of names of genes and of their sums over cells, whatever the container."""
    data = read.matrix_or_none(adata, layer)
    if not isinstance(data, IN_MEMORY) or adata.n_obs == 0:
        return _UNKNOWN
    weights = np.linspace(1.0, 2.0, adata.n_obs)  # each cell its own, as cells may change places
    sums = RowMatrix(data).weighted_sums(weights)
    sizes = np.floor(np.log10(np.where(sums == 0, 1.0, np.abs(sums))))
    digits = np.rint(sums / 10.0 ** (sizes - _DIGITS)) + 0.0  # no −0
    return checksum(digits, sizes, chr(0).join([str(adata.shape), *adata.var_names]))


def is_of(adata: AnnData, key: str, checksums: Mapping[str, str]) -> bool:
    """Return whether a result is whole, and of what checksums say."""
    entry = adata.uns.get(key)
    is_ours = kind_of(entry) is not None and "format" not in entry  # which later versions have
    if not is_ours or not isinstance(entry.get("made_of"), Mapping):
        return False
    today = {**checksums, "numbers": seal({**entry, ".varm": adata.varm.get(key)})}
    today |= {"cells": seal(adata.obsm.get(key))} if adata.n_obs else {}
    return all(str(codec.scalar(entry["made_of"].get(name))) == of for name, of in today.items())


def seal(value: Any) -> str:
    """Return a checksum of numbers, tables, and names in a dict, whatever writer keeps them."""
    if isinstance(value, Mapping | pd.DataFrame):
        # people change tables of orders
        names = {*value} - {"written", "numbers", "cells", "table" if "checks" in value else ""}
        return checksum(*(f"{name} {seal(value[name])}" for name in sorted(names)))
    values = np.ravel(value)
    text = chr(0).join(map(str, values)) if isinstance(value, pd.Series) else ""
    numbers = values.astype(float) if values.dtype.kind in "biuf" else text
    return checksum(str(values.shape), numbers)


def checksum(*contents: Any) -> str:
    """Return a checksum of texts, and of numbers in memory."""
    buffers: list[Any] = []
    for content in contents:
        if isinstance(content, str):
            buffers.append(content.encode())
        elif sparse.issparse(content):
            arrays = content.data, content.indices, content.indptr
            buffers += [content.format.encode(), *map(np.ascontiguousarray, arrays)]
        else:
            buffers += [repr(content.shape).encode(), np.ascontiguousarray(content)]
    return "-".join(f"{zlib.crc32(buffer):08x}" for buffer in buffers)
