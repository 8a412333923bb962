"""What R may call, and the boundary at which all that Python has to say becomes conditions of R."""

from __future__ import annotations

import inspect
import logging
import platform
import sys
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anndata as ad
from joblib import hash as content_of
from joblib import parallel_config

from .. import checks, codec, io, pp, tl
from .._anndata import columns, read, results
from .._anndata import structure as structures
from .._progress import collected
from ..data.matrix import RowMatrix
from ..errors import (
    Caution,
    Door,
    InvalidType,
    InvalidValue,
    NotFound,
    Refusal,
    listed,
    naming,
    short,
    subject,
)
from ..estimators import LapRLSClassifier
from ..io._read import make_unique
from ..labels import check_classes
from ..methods import OBJECTIVES
from ..options import Limits, Preserve
from ..tl._panel import request_for
from . import formals, objects, session, values, words
from .objects import put_together, take_apart
from .words import REDUCED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pandas as pd

log = logging.getLogger(__name__)

_FOR_DEVELOPERS = (
    DeprecationWarning,
    FutureWarning,
    ImportWarning,
    PendingDeprecationWarning,
    ResourceWarning,
)
#: Default of `key_added` of classifiers.
_CLASSIFIER = "glfs_class"
#: Key of the structure of which a function that evaluates panels was given parameters.
_GIVEN = "glfs_structure_given"
#: Kinds of what R's objects do not get, or on request alone.
_BY_THE_WAY = ("structure", "all_genes")
#: What Python computes on the way of a call, for the next one on the same cells.  Checksums say
#: whether it is of the object of a call.
_computed: dict[str, dict[str, Any]] = {}
#: Arguments of functions that evaluate panels that say nothing where they are None.
_MAY_BE_NONE = frozenset({"cell_weights", "use_rep"})


def answer(target: str, arguments: Any) -> Any:
    """Call a function for R (:data:`TARGETS`), with plain values, and answer in plain values.

    ``ok``, ``warnings`` and ``messages``, and ``value`` or the fields of a condition.  Nothing is
    ever raised: rpy2 would print it and give R a NULL.
    """
    conditions: dict[str, list[str]] = {"warnings": [], "messages": []}
    door, tables = words.R, []

    def plain(ok: bool, **fields: Any) -> Any:
        texts = {name: values.strings(lines) for name, lines in conditions.items()}
        return values.write({"ok": ok, **fields, **texts})

    try:
        options = values.read(arguments)
        tables = [cells[name] for cells in _objects(options) for name in ("obs", "var")]
        door = words.door(next((cells["of"][0] for cells in _objects(options)), ""))
        # R's objects are what they print, so that a summary would only be printed beside them
        with (
            session.interruptible(),
            _caught(conditions["warnings"], conditions["messages"], door),
            collected(),
        ):
            value = TARGETS[target](**options)
        # Here, so that what has no plain form is an error as any other.
        return plain(True, value=value)
    except BaseException as error:  # noqa: BLE001 — an exception that gets out aborts the process
        _explain(error, tables)
        return plain(False, **_condition(error, door))


def answer_rpy2(target: Any, arguments: Any) -> Any:
    """The same for rpy2."""
    return values.for_rpy2(answer(target[0], values.from_rpy2(arguments)))


def answer_reticulate(target: str, arguments: Any) -> Any:
    """The same for reticulate."""
    return values.for_reticulate(answer(target, values.from_reticulate(arguments)))


def _objects(arguments: Any) -> Iterator[dict[str, Any]]:
    """Objects of R among arguments."""
    if not isinstance(arguments, dict):
        return
    if "of" in arguments and "obs" in arguments:
        yield arguments
    for value in arguments.values():
        yield from _objects(value)


def _explain(error: BaseException, tables: list[pd.DataFrame]) -> None:
    """Say of a column that R has and Python has not why that is so."""
    if not isinstance(error, NotFound) or error.value is None:
        return
    name = error.value.strip("'")
    for table in tables:
        inner = [column for column in table if column.startswith(f"{name}.")]
        kind = table.attrs.get(values.LEFT, {}).get(name)
        if kind is not None:
            problem = f"is a column of class {kind}, which is neither labels nor numbers"
            remedy = "make it a factor, strings or numbers, one for each row"
        elif inner:
            problem, remedy = "is a table", f"name a column of it: {listed(inner)}"
        else:
            continue
        error.args = (f"{subject(error.argument, name)} {problem}: {remedy}.",)
        return


def _condition(error: BaseException, door: Door) -> dict[str, Any]:
    """Fields of the condition; a refusal has its argument and its kind, too."""
    fields = {
        "classes": values.strings([kind.__name__ for kind in type(error).__mro__[:-1]]),
        "traceback": "".join(traceback.format_exception(error)),
    }
    if isinstance(error, Refusal):
        return fields | {
            "message": door.show(str(error)),
            "argument": door.argument(error.argument, None),
            "kind": type(error).__name__,
        }
    text = error.args[0] if isinstance(error, KeyError) and error.args else error
    return fields | {"message": str(text)}


@contextmanager
def _caught(warned: list[str], messages: list[str], door: Door) -> Iterator[None]:
    """Keep what would go to stderr, where R could neither suppress nor show it."""
    handler = _Handler(messages, door)
    root = logging.getLogger()
    root.addHandler(handler)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield
        finally:
            root.removeHandler(handler)
            warned += [
                door.show(str(warning.message))
                if isinstance(warning.message, Caution)
                else str(warning.message)
                for warning in caught
                if not issubclass(warning.category, _FOR_DEVELOPERS)
            ]


class _Handler(logging.Handler):
    """As Python's own of last resort: what is a warning or worse."""

    def __init__(self, texts: list[str], door: Door) -> None:
        super().__init__(logging.WARNING)
        self.texts, self.door = texts, door

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        is_ours = record.name.startswith("glfs_bio")
        self.texts.append(self.door.show(text) if is_ours else text)


def _arguments(target: str, options: dict[str, Any]) -> dict[str, Any]:
    """Options of a function as Python has them."""
    function = (formals.FUNCTIONS | formals.RECORDS)[target]
    parameters = inspect.signature(function).parameters
    name = words.name_of(function)
    arguments = {*parameters, *formals.more(target)}
    names = {formals.RENAMED.get(argument, argument) for argument in arguments} - formals.NOT_IN_R
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        for option in options:
            if option not in names:
                takes = f"it takes {', '.join(formals.argument_names(target))}"
                remedy = formals.meant(target, option) or takes
                raise InvalidType(f"`{option}` is no argument of `glfs_bio.{name}`: {remedy}")
    for option, parameter in parameters.items():
        is_named = parameter.kind is not parameter.VAR_KEYWORD
        needed = parameter.default is parameter.empty and is_named
        if needed and option not in {*options, "adata"}:
            raise InvalidType(f"`{option}` is missing: `glfs_bio.{name}` needs it")
    of_python = {called: argument for argument, called in formals.RENAMED.items()}
    return {
        of_python.get(option, option): _argument(option, value) for option, value in options.items()
    }


def _argument(name: str, value: Any) -> Any:
    """A value as Python has it: keys of ``.obsm``, records of options, cells of another assay."""
    if name in {"use_rep", "preserve", "spatial"} and isinstance(value, str):
        return REDUCED.get(value, value)
    if name == "preserve" and isinstance(value, dict):
        return {REDUCED.get(key, key): weight for key, weight in value.items()}
    if name in formals.RECORDS and isinstance(value, dict):
        fields = _arguments(name, value)
        return objects.platform(fields) if name == "platform" else Limits(**fields)
    if name in {"panel", "panels", "catalogue"}:
        return objects.panel(value)
    if name in {"efficiency", "spillover_to"} and isinstance(value, dict):
        return put_together(value) if {"X", "obs", "var"} <= value.keys() else value
    return value


def _written_by(
    target: str, call: Callable[..., Any], parts: dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    """Call `call` as a function of R, with one object, and tell what it wrote."""
    arguments = _arguments(target, options)
    sets = {"": put_together(parts)}
    _restore_computed(sets[""])
    written = _written_to(sets, lambda sets: call(sets[""], **arguments))[""]
    _keep_computed(sets[""])
    return written


def _keep_computed(adata: ad.AnnData) -> None:
    """Keep what was computed for an object, in place of what was kept before."""
    _computed.clear()
    for key in filter(read.COMPUTED.fullmatch, adata.obsm):
        tables = {name: getattr(adata, name) for name in ("uns", "obsm", "varm")}
        _computed[key] = {name: table[key] for name, table in tables.items() if key in table}


def _restore_computed(adata: ad.AnnData) -> None:
    """Put it into an object of the same size that has none."""
    for key, tables in _computed.items():
        sizes = {"obsm": adata.n_obs, "varm": adata.n_vars}
        fits = all(len(tables[name]) == size for name, size in sizes.items() if name in tables)
        if fits and key not in adata.uns:
            for name, value in tables.items():
                getattr(adata, name)[key] = value


def _written_to(
    sets: dict[str, ad.AnnData], call: Callable[[dict[str, ad.AnnData]], None]
) -> dict[str, dict[str, Any]]:
    """Call a function that writes to data sets, and tell of each what it wrote."""
    entries = {}
    for name, adata in sets.items():
        entries[name] = {"var": adata.var.copy(), "obs": adata.obs.copy(), "uns": {**adata.uns}}
    call(sets)
    return {name: _changes(adata, entries[name]) for name, adata in sets.items()}


def _revised(adata: ad.AnnData, entries: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Parts of records of R, which handed over some of these, that are others now."""
    return {
        key: {
            name: value
            for name, value in adata.uns[key].items()
            if content_of(old.get(name)) != content_of(value)  # a subset copies them all
        }
        for key, old in entries.items()
        if adata.uns.get(key, old) is not old and "versions" not in adata.uns[key]
    }


def _last_written(uns: Mapping[str, Any]) -> int:
    """The number of the last result that R has, whatever was computed by the way."""
    return max(
        (
            int(entry["written"])
            for key, entry in uns.items()
            if "written" in entry and not read.COMPUTED.fullmatch(key)
        ),
        default=0,
    )


def _changes(adata: ad.AnnData, entries: dict[str, Any]) -> dict[str, Any]:
    rows = entries["var"].index.get_indexer(adata.var_names)
    gone = {name: list(set(table) - {*getattr(adata, name)}) for name, table in entries.items()}
    # The records that R handed over have no versions; R keeps structures on request alone.
    new = [
        key
        for key, entry in adata.uns.items()
        if "versions" in entry and entry["kind"] not in _BY_THE_WAY
    ]
    new.sort(key=lambda key: int(adata.uns[key]["written"]))
    first = _last_written(entries["uns"]) + 1
    return {
        "rows": rows + 1,
        "var": _new_columns(adata.var, entries["var"].iloc[rows]),
        "obs": _new_columns(adata.obs, entries["obs"]),
        "gone": {name: values.strings(names) for name, names in gone.items()},
        "revised": _revised(adata, entries["uns"]),
        "records": {
            key: objects.record_for_r(adata.uns[key]) | {"written": first + position}
            for position, key in enumerate(new)
        },
    }


def _new_columns(table: pd.DataFrame, former: pd.DataFrame) -> pd.DataFrame:
    new = [name for name in table if name not in former or not table[name].equals(former[name])]
    return table[new]


def _evaluate(target: str, adata: ad.AnnData, **options: Any) -> None:
    """Evaluate panels by a structure that R may name.

    What Python has in one argument R has in several: `preserve`, `cell_weights`, `use_rep`, and the
    parameters of a structure.
    """
    function = formals.FUNCTIONS[target]
    parameters = inspect.signature(function).parameters
    extra = {name: options.pop(name) for name in formals.more(target) & set(options)}
    extra = {
        name: value
        for name, value in extra.items()
        if value is not None or name not in _MAY_BE_NONE
    }
    if extra:
        panel = options.get("panel", parameters["panel"].default) if "panel" in parameters else None
        options["preserve"] = _preserve(adata, panel, options.get("preserve"), **extra)
    function(adata, **options)
    for key, entry in adata.uns.items():  # the structure given here is gone afterwards
        if entry.get("params", {}).get("use_rep") == _GIVEN:
            request = results.request_of(adata, key).but(stored_key=None)
            entry["params"]["use_rep"] = entry["structure"].get("use_rep", "None")
            entry["request"] = codec.text_of(request)


def _preserve(
    adata: ad.AnnData,
    panel: Any,
    target: Any,
    *,
    cell_weights: Any = None,
    use_rep: Any = None,
    **structure: Any,
) -> Preserve:
    """What panels are judged by: the rest is what a selection was made for."""
    selection = isinstance(panel, str) and f"{panel}_selected" in adata.var
    if target is None:
        recorded = pp.recorded_parameters(adata, panel) if selection and panel in adata.uns else {}
        target = recorded.get("preserve", "structure")
        cell_weights = recorded.get("cell_weights") if cell_weights is None else cell_weights
    if structure:
        by_name = Preserve(use_rep=use_rep) if use_rep is not None else None
        spec = request_for(adata, panel if selection else None, preserve=by_name).structure
        if use_rep is not None and spec.stored_key is not None:
            raise InvalidValue(
                f"`use_rep={short(use_rep)}` names a structure that is there: leave "
                f"{', '.join(sorted(structure))} out"
            )
        settings = {field.name: getattr(spec, field.name) for field in fields(spec)}
        del settings["stored_key"]
        pp.structure(adata, **settings | structure, key_added=_GIVEN)
        use_rep = _GIVEN
    return Preserve(target, cell_weights, use_rep)


def _select(objects: Any, **options: Any) -> None:
    pp.select_genes(objects, **_with_penalty(options))


def _select_from(sets: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """The genes of several data sets."""
    arguments = _arguments("select_genes", options)
    return _written_to(
        {name: put_together(plain) for name, plain in sets.items()},
        lambda objects: _select(objects, **arguments),
    )


def _with_penalty(options: dict[str, Any]) -> dict[str, Any]:
    """Options with λ where Python has it: in the objective."""
    arguments = dict(options)
    if (lam := arguments.pop("lam", None)) is not None:
        name = options.get("objective", "error")
        arguments["objective"] = OBJECTIVES.with_options("objective", name, lam=lam)
    return arguments


def _keep_structure(parts: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """The structure of the cells, for R to keep."""
    records = {}

    def keep(adata: ad.AnnData, key_added: str = structures.KEY, **arguments: Any) -> None:
        written = _last_written(adata.uns)
        pp.structure(adata, key_added=key_added, **arguments)
        records[key_added] = objects.structure(adata, key_added) | {"written": written + 1}

    return _written_by("structure", keep, parts, options) | {"records": records}


def _examine(adata: ad.AnnData, **options: Any) -> None:
    """The stability, with workers that are forked, where that can be done."""
    options = _with_penalty(options)
    if options.get("n_jobs") in {None, 1}:
        tl.stability(adata, **options)
    elif session.can_fork():
        with parallel_config(session.Forked()):
            tl.stability(adata, **options)
    else:
        log.warning("`n_jobs`: processes cannot be forked on this system, so that there is one.")
        tl.stability(adata, **options | {"n_jobs": 1})


def _classify(adata: ad.AnnData, **options: Any) -> None:
    """Train a classifier; decision values of each of several classes have a column in R."""
    tl.classify(adata, **options)
    key = options.get("key_added", _CLASSIFIER)
    name = f"{key}_decision"
    old = [column for column in adata.obs if column.startswith(f"{name}.")]
    adata.obs.drop(columns=old, inplace=True)
    if name in adata.obsm:
        decision = adata.obsm.pop(name)
        for label, values_of_label in zip(adata.uns[key]["classes"], decision.T, strict=True):
            adata.obs[f"{name}.{label}"] = values_of_label


def _laprls(parts: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Fit LapRLS to all genes."""
    arguments = _arguments("laprls", options)
    adata, labels = put_together(parts), arguments.pop("labels", None)
    if labels is None:
        raise InvalidType("`labels` is missing: name a column or give one a sample")
    codes, categories = columns.labels(adata, labels, "labels")
    check_classes(categories[codes[codes >= 0]].astype(str), name="labels")
    model = LapRLSClassifier(**arguments).fit(read.row_matrix(adata).loaded(), codes)
    return {
        "classes": values.strings(categories[model.classes_].astype(str)),
        "genes": values.strings(adata.var_names),
        "coef": model.coef_.T,
        "intercept": model.intercept_,
    }


def _read_panel(path: str, **options: str | None) -> dict[str, Any]:
    """A panel out of a file."""
    panel = io.read_panel(path, **options)
    words = panel.table.select_dtypes(object).columns  # of a workbook also numbers
    table = panel.table.astype(dict.fromkeys(words, str))
    lists = ("controls", "repeated", "backups")
    names = {name: values.strings(getattr(panel, name)) for name in lists}
    about = {"form": panel.form, **names, "codebook": panel.codebook, "about": panel.about}
    return {"table": table, "about": about}


def _write_order(
    parts: dict[str, Any] | None, orders: dict[str, Any], path: str, **options: Any
) -> None:
    """Write an order, of which the object may be gone."""
    adata = ad.AnnData() if parts is None else put_together(parts)
    adata.uns.update({key: dict(order) for key, order in orders.items()})
    io.write_order(adata, path, **options)


def _write_reference(
    parts: dict[str, Any], path: str, labels: str, counts_layer: str, **options: Any
) -> None:
    """Write a reference; the matrix of the object is that of raw counts."""
    adata = put_together(parts | {"layers": {counts_layer: parts["X"]}})
    io.write_reference(adata, path, labels, counts_layer=counts_layer, **options)


def _read_h5ad(
    path: str, X_name: str, raw: bool = False, modality: str | None = None
) -> dict[str, Any]:
    """Cells of a file, or with `raw` all genes of its ``.raw`` in them."""
    checks.flags(raw=raw)
    with naming(backed="raw"):  # of which the other matrices are not read
        adata = io.read_cells(path, modality=modality, backed=raw)
    dropped = []
    if raw:
        if adata.raw is None:
            raise InvalidValue(f"`raw=True` is not in {path}: leave it out")
        dropped = [f"layers[{name!r}]" for name in read.layers(adata)]
        dropped += [f"varm[{name!r}]" for name in adata.varm]
        adata = ad.AnnData(
            RowMatrix(adata.raw.X).loaded(),
            obs=adata.obs,
            var=adata.raw.var,
            **{name: dict(getattr(adata, name)) for name in ("obsm", "obsp", "uns")},
        )
        make_unique(adata, Path(path))
    plain, more = take_apart(adata, X_name)
    return plain | {"left": values.strings(dropped + more)}


def _estimated(reference: dict[str, Any], spatial: dict[str, Any], labels: Any) -> pd.DataFrame:
    """Efficiencies of genes, from the counts of two objects."""
    return tl.estimate_efficiency(put_together(reference), put_together(spatial), labels)


def _about() -> dict[str, Any]:
    return {
        "python": sys.executable,
        "python_version": platform.python_version(),
        **{name.replace("-", "_"): version(name) for name in ("glfs-bio", "anndata")},
    }


#: What is called with one object, by the names that R has for the functions.
_OF_OBJECTS: dict[str, Callable[..., Any]] = {
    **formals.FUNCTIONS,
    **{name: partial(_evaluate, name) for name in formals.EVALUATING},
    "select_genes": _select,
    "stability": _examine,
    "classify": _classify,
}
#: What R may call.
TARGETS: dict[str, Callable[..., Any]] = {
    **{name: partial(_written_by, name, call) for name, call in _OF_OBJECTS.items()},
    "about": _about,
    "select_genes_of_sets": _select_from,
    "structure": _keep_structure,
    "estimate_efficiency": _estimated,
    "write_order": _write_order,
    "write_reference": _write_reference,
    "read_panel": _read_panel,
    "laprls": _laprls,
    "read_h5ad": _read_h5ad,
}
