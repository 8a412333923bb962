"""What R may call, and the boundary at which all that Python has to say becomes conditions of R."""

from __future__ import annotations

import ctypes
import logging
import os
import platform
import signal
import sys
import threading
import traceback
import warnings
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib.metadata import version
from logging.handlers import BufferingHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anndata as ad
from joblib.externals.loky import get_reusable_executor

from .. import checks, io, tl
from .._anndata import read, results
from .._files import replacing
from .._progress import collected
from ..errors import Door, InvalidValue, Refusal
from ..io._read import make_unique
from ..options import Preserve
from ..solvers.panel import method_of
from . import formals, objects, values, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pandas as pd

_TABLES, _LISTS = ("var", "obs", "uns"), ("controls", "repeated")
#: What was computed on the way of the last call, by the shape of its object, attribute and key, for
#: the next call on the same cells: checksums say whether they are.
_computed: dict[tuple[Any, str, str], Any] = {}
#: Python's names of arguments that have others in R.
_PYTHON_NAMES = {name: argument for argument, name in formals.RENAMED.items()}


def answer(target: str, text: str, blocks: list[bytearray], of: str) -> tuple[str, list[bytearray]]:
    """Call a function for R (:data:`TARGETS`), with plain values, and answer in plain values.

    The answer has ``ok``, ``warnings`` and ``messages``, and ``value`` or the fields of a
    condition, in the words of the class `of`.  Nothing is ever raised.
    """
    door = words.door(of)
    conditions: dict[str, Any] = {}
    try:
        # R's objects are what they print, so that a summary would only be printed beside them
        with interruptible(), _conditions(door, conditions), collected():
            value = TARGETS[target](**values.read(text, blocks))
        # Here, so that what has no plain form is an error as any other.
        return values.packed({"ok": True, "value": value, **conditions})
    except BaseException as error:  # noqa: BLE001 — an exception that gets out aborts the process
        return values.packed({"ok": False, **_condition(error, door), **conditions})


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt here.

    Afterwards handlers are as they were, whoever set them: Python's, and below it R's own.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    system = ctypes.pythonapi
    below = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_int)(("PyOS_getsig", system))
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    handler, address = signal.getsignal(signal.SIGINT), below(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
        prototype(("PyOS_setsig", system))(signal.SIGINT, address)


@contextmanager
def _conditions(door: Door, conditions: dict[str, Any]) -> Iterator[None]:
    """Collect what would go to stderr, where R could neither suppress nor show it."""
    handler = BufferingHandler(sys.maxsize)
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")  # what developers are warned of
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("default", category)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(handler)
            notes = [record.getMessage() for record in handler.buffer]
            conditions["messages"] = list(map(door.show, notes))
            conditions["warnings"] = [door.show(str(warning.message)) for warning in caught]


def _condition(error: BaseException, door: Door) -> dict[str, Any]:
    """Return the fields of the condition; a refusal has its argument and its kind, too."""
    text = error.args[0] if isinstance(error, KeyError) and error.args else error
    fields = {
        "classes": values.strings([kind.__name__ for kind in type(error).__mro__[:-1]]),
        "traceback": "".join(traceback.format_exception(error)),
        "message": door.show(str(error)) if isinstance(error, Refusal) else str(text),
    }
    if isinstance(error, Refusal):
        fields |= {"argument": door.argument(error.argument, None), "kind": type(error).__name__}
    return fields


def _arguments(target: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a function of R as Python has them."""
    arguments = {_PYTHON_NAMES.get(name, name): value for name, value in options.items()}
    for name, record in formals.RECORDS.items():
        if isinstance(arguments.get(name), dict):
            arguments[name] = record(**arguments[name])
    if (lam := arguments.pop("lam", None)) is not None:  # which Python has in the objective
        objective = arguments.get("objective", "error")
        arguments["objective"] = method_of("objective", objective, lam=lam)
    if target in formals.EVALUATING:  # R has three arguments, and Python one
        fields = {name: arguments.pop(name, None) for name in ("cell_weights", "use_rep")}
        usual = "structure" if isinstance(arguments.get("panel"), dict) else None
        if any(fields.values()):
            arguments["preserve"] = Preserve(arguments.get("preserve", usual), **fields)
    return arguments


def _write(target: str, sets: Any, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Call a function on an object, or on several by name, and return what it wrote to each."""
    arguments = _arguments(target, options)
    several = isinstance(sets, dict)
    cells = list(sets.values()) if several else sets
    former = [{name: getattr(adata, name).copy() for name in _TABLES} for adata in cells]
    with nullcontext() if several else _computed_before(cells[0]):
        call = _examine if target == "stability" else formals.FUNCTIONS[target]
        call(sets if several else cells[0], **arguments)
    return list(map(_changes, cells, former))


@contextmanager
def _computed_before(adata: ad.AnnData) -> Iterator[None]:
    """Give an object what was computed for the last one, and keep what is computed for this one."""
    for (shape, name, key), value in _computed.items():
        if shape == adata.shape:
            getattr(adata, name).setdefault(key, value)
    yield
    _computed.clear()
    for name in ("uns", "obsm", "varm"):
        for key, value in getattr(adata, name).items():
            if read.COMPUTED.fullmatch(key):
                _computed[adata.shape, name, key] = value


def _changes(adata: ad.AnnData, former: dict[str, Any]) -> dict[str, Any]:
    """Return what is new in an object since it had these tables, and the names of what is gone."""
    rows = former["var"].index.get_indexer(adata.var_names)
    new = [key for key, entry in adata.uns.items() if entry is not former["uns"].get(key)]
    ours = [key for key in new if results.kind_of(adata.uns[key])]
    gone = {name: set(former[name]) - {*getattr(adata, name)} for name in _TABLES}
    return {
        "rows": rows + 1,
        "var": _new_columns(adata.var, former["var"].iloc[rows]),
        "obs": _new_columns(adata.obs, former["obs"]),
        "gone": {name: values.strings(list(names)) for name, names in gone.items()},
        "records": {k: objects.result(adata, k) for k in ours if not read.COMPUTED.fullmatch(k)},
    }


def _new_columns(table: pd.DataFrame, former: pd.DataFrame) -> pd.DataFrame:
    new = [name for name in table if name not in former or not table[name].equals(former[name])]
    return table[new]


def _examine(adata: ad.AnnData, **options: Any) -> None:
    """Compute the stability; workers end with the call, since R ends without Python's own end."""
    has_workers = options.get("n_jobs") not in {None, 1}
    if has_workers:  # the process that removes their folders does not hear of it, and would warn
        os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker")
    try:
        tl.stability(adata, **options)
    finally:
        if has_workers:
            get_reusable_executor(reuse=True).shutdown(kill_workers=True)


def _read_panel(path: str, **options: str | None) -> dict[str, Any]:
    """Return a panel of a file."""
    panel = io.read_panel(path, **options)
    texts = panel.table.select_dtypes(object).columns  # of a workbook also numbers
    lists = {name: values.strings(getattr(panel, name)) for name in _LISTS}
    about = {"form": panel.form, "codebook": panel.codebook, **lists}
    return {"table": panel.table.astype(dict.fromkeys(texts, str)), "about": about}


def _write_order(adata: ad.AnnData | None, records: dict[str, Any], **options: Any) -> None:
    """Write an order, of which the object may be gone."""
    if adata is None:
        adata = ad.AnnData()
        objects.restore(adata, records, {})
    io.write_order(adata, **options)


def _read_h5ad(path: str, X_name: str, raw: bool, modality: str | None) -> dict[str, Any]:
    """Return the cells of a file, or with `raw` all genes of its ``.raw`` in them."""
    checks.flags(raw=raw)
    adata = io.read_cells(path, modality=modality)
    dropped = [f"layers[{name!r}]" for name in read.layers(adata) if raw]
    if raw and adata.raw is None:
        raise InvalidValue(f"`raw=True` is not in {path}: leave it out")
    if raw:
        adata = adata.raw.to_adata()
        make_unique(adata, Path(path))
    pieces = objects.take_apart(adata, X_name)
    return pieces | {"left": dropped + pieces["left"]}


def _write_h5ad(pieces: dict[str, Any], path: str, *, overwrite: bool) -> None:
    """Write an object with the records of its results."""
    with replacing(path, overwrite=overwrite) as new:
        objects.put_together(pieces, is_copy=True).write_h5ad(new)


def _about() -> dict[str, str]:
    """Return which Python this is, and versions."""
    about = {"python": sys.executable, "python_version": platform.python_version()}
    return about | {name: version(name) for name in ("glfs_bio", "anndata")}


#: What R may call.
TARGETS: dict[str, Callable[..., Any]] = {
    **{name: partial(_write, name) for name in formals.FUNCTIONS},
    "about": _about,
    "estimate_efficiency": tl.estimate_efficiency,
    "write_order": _write_order,
    "write_reference": io.write_reference,
    "read_panel": _read_panel,
    "read_h5ad": _read_h5ad,
    "write_h5ad": _write_h5ad,
}
