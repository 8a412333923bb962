"""What R may call, and the boundary at which all that Python has to say becomes conditions of R."""

from __future__ import annotations

import logging
import platform
import sys
import traceback
import warnings
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anndata as ad
from joblib import hash as content_of
from joblib import parallel_config

from .. import checks, io, pp, tl
from .._anndata import columns, read
from .._docs import REQUIRED, parameters
from .._progress import collected
from ..errors import Door, InvalidType, InvalidValue, Refusal, note, short
from ..estimators import LapRLSClassifier
from ..io._read import make_unique
from ..labels import check_classes
from ..methods import OBJECTIVES
from ..options import Preserve
from ..tl._panel import request_for
from . import formals, objects, session, values, words
from .objects import put_together, take_apart
from .words import REDUCED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pandas as pd

#: Default of `key_added` of classifiers.
_CLASSIFIER = "glfs_class"
#: Key of the structure of one call, of which a function that evaluates panels takes parameters.
_TEMPORARY = "glfs_structure_temporary"
#: Shape of the object of the last call, and what was computed on its way, for the next call on the
#: same cells: checksums say whether they are.
_computed: dict[str, Any] = {}
#: What Python and R hand over to one another outside of a call of R.
handed_over: list[dict[str, Any]] = []


def answer(target: str, arguments: Any, of: str) -> Any:
    """Call a function for R (:data:`TARGETS`), with plain values, and answer in plain values.

    The answer has ``ok``, ``warnings`` and ``messages``, and ``value`` or the fields of a
    condition, in the words of the class `of`.  Nothing is ever raised.
    """
    door = words.door(of)
    conditions: dict[str, Any] = {}
    try:
        # R's objects are what they print, so that a summary would only be printed beside them
        with session.interruptible(), _conditions(door, conditions), collected():
            value = TARGETS[target](**values.read(arguments))
        # Here, so that what has no plain form is an error as any other.
        return values.write({"ok": True, "value": value, **conditions})
    except BaseException as error:  # noqa: BLE001 — an exception that gets out aborts the process
        return values.write({"ok": False, **_condition(error, door), **conditions})


def answer_rpy2(target: Any, arguments: Any, of: Any) -> Any:
    """Return the same for rpy2."""
    return values.for_rpy2(answer(target[0], values.from_rpy2(arguments), of[0]))


@contextmanager
def _conditions(door: Door, conditions: dict[str, Any]) -> Iterator[None]:
    """Collect what would go to stderr, where R could neither suppress nor show it."""
    handler = BufferingHandler(sys.maxsize)
    handler.setLevel(logging.WARNING)
    root = logging.getLogger()
    root.addHandler(handler)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")  # what developers are warned of
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("default", category)
        try:
            yield
        finally:
            root.removeHandler(handler)
            texts = {
                "messages": [record.getMessage() for record in handler.buffer],
                "warnings": [str(warning.message) for warning in caught],
            }
            for name, lines in texts.items():
                conditions[name] = values.strings([door.show(text) for text in lines])


def _condition(error: BaseException, door: Door) -> dict[str, Any]:
    """Return the fields of the condition; a refusal has its argument and its kind, too."""
    text = error.args[0] if isinstance(error, KeyError) and error.args else error
    fields = {
        "classes": values.strings([kind.__name__ for kind in type(error).__mro__[:-1]]),
        "traceback": "".join(traceback.format_exception(error)),
        "message": str(text),
    }
    if isinstance(error, Refusal):
        fields |= {
            "message": door.show(str(error)),
            "argument": door.argument(error.argument, None),
            "kind": type(error).__name__,
        }
    return fields


def _arguments(target: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a function, or fields of a record, as Python has them."""
    function = formals.CALLED[target]
    name = words.name_of(function)
    names = formals.options(target)
    needed = [field.name for field in parameters(function).values() if field.default is REQUIRED]
    for option in options:
        if option not in names:
            takes = f"it takes {', '.join(formals.argument_names(target))}"
            remedy = formals.meant(target, option) or takes
            raise InvalidType(f"`{option}` is no argument of `glfs_bio.{name}`: {remedy}")
    for option in [*needed, *formals.NEEDED.get(target, ())]:
        if option not in {*options, "adata"}:
            raise InvalidType(f"`{option}` is missing: `glfs_bio.{name}` needs it")
    arguments = {
        names[option]: _CONVERSIONS[option](value) if option in _CONVERSIONS else value
        for option, value in options.items()
    }
    if (lam := arguments.pop("lam", None)) is not None:  # which Python has in the objective
        objective = arguments.get("objective", "error")
        arguments["objective"] = OBJECTIVES.with_options("objective", objective, lam=lam)
    return arguments


def _in_obsm(value: Any) -> Any:
    """Return names of reduced dimensions, or weights by these, as keys of ``.obsm``."""
    if isinstance(value, dict):
        return {REDUCED.get(name, name): weight for name, weight in value.items()}
    return REDUCED.get(value, value) if isinstance(value, str) else value


def _record(name: str, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return formals.RECORDS[name](**_arguments(name, value))


def _cells(value: Any) -> Any:
    """Return cells of another assay, where the value is an object of R."""
    return put_together(value) if isinstance(value, dict) and "obs" in value else value


#: By the options whose values R has in other forms.
_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("use_rep", "preserve", "spatial"), _in_obsm),
    **dict.fromkeys(("panel", "catalogue"), objects.panel),
    **dict.fromkeys(("efficiency", "spillover_to"), _cells),
    **{name: partial(_record, name) for name in formals.RECORDS},
}


def _write(
    target: str, call: Callable[..., Any], sets: Any, options: dict[str, Any]
) -> dict[str, Any]:
    """Call a function on an object, or on several by name, and return what it wrote to each."""
    arguments = _arguments(target, options)
    several = isinstance(sets, dict)
    cells = {
        name: put_together(parts) for name, parts in (sets.items() if several else [("", sets[0])])
    }
    if not several:
        _restore_computed(cells[""])
    old_tables = {
        name: {"var": adata.var.copy(), "obs": adata.obs.copy(), "uns": {**adata.uns}}
        for name, adata in cells.items()
    }
    call(cells if several else cells[""], **arguments)
    if not several:
        _keep_computed(cells[""])
    return {name: _changes(adata, old_tables[name]) for name, adata in cells.items()}


def _keep_computed(adata: ad.AnnData) -> None:
    """Keep what was computed for an object, in place of what was kept before."""
    _computed["shape"] = adata.shape
    for name in ("uns", "obsm", "varm"):
        table = getattr(adata, name)
        _computed[name] = {key: table[key] for key in table if read.COMPUTED.fullmatch(key)}


def _restore_computed(adata: ad.AnnData) -> None:
    """Put it into an object of the same size that has none."""
    if _computed.get("shape") == adata.shape:
        for name in ("uns", "obsm", "varm"):
            for key, value in _computed[name].items():
                getattr(adata, name).setdefault(key, value)


def _changes(adata: ad.AnnData, old_tables: dict[str, Any]) -> dict[str, Any]:
    """Return columns and records that are new, and the names of those that are gone."""
    rows = old_tables["var"].index.get_indexer(adata.var_names)
    records, revised = {}, {}
    for key, entry in adata.uns.items():
        old = old_tables["uns"].get(key, {})
        if read.COMPUTED.fullmatch(key):
            continue
        # The records that R handed over have no versions.
        if "versions" in entry and entry["written"] != old.get("written"):
            records[key] = entry
        elif "versions" not in entry and old and entry is not old:
            revised[key] = {
                name: value
                for name, value in entry.items()
                if content_of(old.get(name)) != content_of(value)  # a subset copies them all
            }
    # R numbers its results, whatever was computed by the way.
    numbers = [
        int(entry["written"])
        for key, entry in old_tables["uns"].items()
        if "written" in entry and not read.COMPUTED.fullmatch(key)
    ]
    written = sorted(records, key=lambda key: int(records[key]["written"]))
    return {
        "rows": rows + 1,
        "var": _new_columns(adata.var, old_tables["var"].iloc[rows]),
        "obs": _new_columns(adata.obs, old_tables["obs"]),
        "gone": {
            name: values.strings(list(set(table) - {*getattr(adata, name)}))
            for name, table in old_tables.items()
        },
        "revised": revised,
        "records": {
            key: objects.result(adata, key) | {"written": number}
            for number, key in enumerate(written, max(numbers, default=0) + 1)
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
    structure = {name: options.pop(name) for name in formals.more(target) & set(options)}
    weights, use_rep = structure.pop("cell_weights", None), structure.pop("use_rep", None)
    if structure or weights is not None or use_rep is not None:
        panel = options.get("panel", parameters(function)["panel"].default)
        selection = panel if isinstance(panel, str) and f"{panel}_selected" in adata.var else None
        preserve = options.get("preserve")
        if preserve is None and selection is not None and selection in adata.uns:
            recorded = pp.recorded_parameters(adata, selection)
            preserve = recorded["preserve"]
            weights = recorded["cell_weights"] if weights is None else weights
        if structure:
            use_rep = _compute_structure(adata, selection, use_rep, structure)
        preserve = "structure" if preserve is None else preserve
        options["preserve"] = Preserve(preserve, weights, use_rep)
    function(adata, **options)
    if use_rep == _TEMPORARY:  # it is gone afterwards
        for table in (adata.uns, adata.obsm, adata.varm):
            del table[_TEMPORARY]
        for entry in adata.uns.values():
            if entry.get("params", {}).get("use_rep") == _TEMPORARY:
                entry["params"]["use_rep"] = entry["structure"].get("use_rep", "None")


def _compute_structure(
    adata: ad.AnnData, selection: str | None, use_rep: str | None, settings: dict[str, Any]
) -> str:
    """Compute the structure of a panel with other settings, and return its key."""
    by_name = None if use_rep is None else Preserve(use_rep=use_rep)
    spec = vars(request_for(adata, selection, preserve=by_name).structure)
    if use_rep is not None and spec["stored_key"] is not None:
        raise InvalidValue(
            f"`use_rep={short(use_rep)}` names a structure that is there: leave "
            f"{', '.join(sorted(settings))} out"
        )
    settings = {name: spec[name] for name in spec if name != "stored_key"} | settings
    pp.structure(adata, **settings, key_added=_TEMPORARY)
    return _TEMPORARY


def _examine(adata: ad.AnnData, **options: Any) -> None:
    """Compute the stability, with workers that are forked, where that can be done."""
    if options.get("n_jobs") not in {None, 1} and not session.can_fork():
        note("`n_jobs`: processes cannot be forked on this system, so that there is one.")
        options["n_jobs"] = 1
    with parallel_config(session.Forked()):
        tl.stability(adata, **options)


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
    adata = put_together(parts)
    codes, categories = columns.labels(adata, arguments.pop("labels"), "labels")
    check_classes(categories[codes[codes >= 0]].astype(str), name="labels")
    model = LapRLSClassifier(**arguments).fit(read.row_matrix(adata).loaded(), codes)
    return {
        "classes": values.strings(categories[model.classes_].astype(str)),
        "genes": values.strings(adata.var_names),
        "coef": model.coef_.T,
        "intercept": model.intercept_,
    }


def _read_panel(path: str, **options: str | None) -> dict[str, Any]:
    """Return a panel of a file."""
    panel = io.read_panel(path, **options)
    texts = panel.table.select_dtypes(object).columns  # of a workbook also numbers
    lists = ("controls", "repeated", "backups")
    about = {"form": panel.form, "codebook": panel.codebook, "about": panel.about}
    about |= {name: values.strings(getattr(panel, name)) for name in lists}
    return {"table": panel.table.astype(dict.fromkeys(texts, str)), "about": about}


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
    """Return the cells of a file, or with `raw` all genes of its ``.raw`` in them."""
    checks.flags(raw=raw)
    adata = io.read_cells(path, modality=modality)
    dropped = []
    if raw:
        if adata.raw is None:
            raise InvalidValue(f"`raw=True` is not in {path}: leave it out")
        dropped = [f"layers[{name!r}]" for name in read.layers(adata)]
        adata = adata.raw.to_adata()
        make_unique(adata, Path(path))
    plain, more = take_apart(adata, X_name)
    return plain | {"left": values.strings(dropped + more)}


def _estimate(reference: dict[str, Any], spatial: dict[str, Any], labels: Any) -> pd.DataFrame:
    """Return efficiencies of genes, from the counts of two objects."""
    return tl.estimate_efficiency(put_together(reference), put_together(spatial), labels)


def _about() -> dict[str, Any]:
    return {
        "python": sys.executable,
        "python_version": platform.python_version(),
        **{name.replace("-", "_"): version(name) for name in ("glfs-bio", "anndata")},
    }


#: What R calls on its objects, where it is not the function of Python of that name.
_CALLS: dict[str, Callable[..., Any]] = {
    **{name: partial(_evaluate, name) for name in formals.EVALUATING},
    "stability": _examine,
    "classify": _classify,
}
#: What R may call.
TARGETS: dict[str, Callable[..., Any]] = {
    **{name: partial(_write, name, call) for name, call in (formals.FUNCTIONS | _CALLS).items()},
    "about": _about,
    "estimate_efficiency": _estimate,
    "write_order": _write_order,
    "write_reference": _write_reference,
    "read_panel": _read_panel,
    "laprls": _laprls,
    "read_h5ad": _read_h5ad,
    "fetch": handed_over.pop,
    "store": lambda **content: handed_over.append(content),
}
