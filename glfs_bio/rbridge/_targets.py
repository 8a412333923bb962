"""What R may call, with plain values."""

from __future__ import annotations

import inspect
import logging
import platform
import sys
from difflib import get_close_matches
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anndata as ad
import numpy as np
from joblib import parallel_config

from .. import io, pp, tl
from .._anndata import columns, read
from .._anndata import structure as structures
from .._extras import needs
from ..errors import NO_VALUE, InvalidType, InvalidValue, Message, arg, call
from ..estimators import LapRLSClassifier
from ..laprls import check_classes
from ..methods import OBJECTIVES
from ..options import Limits, Preserve, StructureSpec
from . import _records, _values, formals
from ._objects import put_together, take_apart
from ._workers import Forked, can_fork
from .words import REDUCED

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

log = logging.getLogger(__name__)

#: Default of `key_added` of classifiers.
_CLASSIFIER = "glfs_class"
#: Key of the structure of which a function that evaluates panels was given parameters.
_GIVEN = "glfs_structure_given"


def _about() -> dict[str, Any]:
    return {
        "python": sys.executable,
        "python_version": platform.python_version(),
        **{name.replace("-", "_"): version(name) for name in ("glfs-bio", "anndata")},
    }


def _arguments(target: str, options: dict[str, Any]) -> dict[str, Any]:
    """Options of a function as Python has them."""
    function = (formals.FUNCTIONS | formals.RECORDS)[target]
    every = inspect.signature(function).parameters
    known = {formals.RENAMED.get(one, one) for one in {*every, *formals.more(target)}}
    name = f"{function.__module__.split('.')[1]}.{function.__name__}"
    name = function.__name__ if target in formals.RECORDS else name
    if not any(one.kind is one.VAR_KEYWORD for one in every.values()):
        for option in options:
            if option not in known or option in formals.NOT_IN_R:
                taken = formals.argument_names(target)
                close = get_close_matches(option, taken, 1)
                raise InvalidType(
                    option,
                    NO_VALUE,
                    f"is not an argument of {call(name)}",
                    f"did you mean {', '.join(close or taken)}?"
                    if close
                    else f"it takes {', '.join(close or taken)}",
                )
    for option, one in every.items():
        needed = one.default is one.empty and one.kind is not one.VAR_KEYWORD
        if needed and option not in {*options, "adata"}:
            raise InvalidType(option, NO_VALUE, "is missing", f"{call(name)} needs it")
    of_python = {called: one for one, called in formals.RENAMED.items()}
    return {
        of_python.get(option, option): _argument(option, value) for option, value in options.items()
    }


def _argument(name: str, value: Any) -> Any:
    """A value as Python has it: keys of ``.obsm``, records of options, cells of another assay."""
    if name in {"use_rep", "preserve"} and isinstance(value, str):
        return REDUCED.get(value, value)
    if name == "preserve" and isinstance(value, dict):
        return {REDUCED.get(part, part): weight for part, weight in value.items()}
    if name in formals.RECORDS and isinstance(value, dict):
        fields = _arguments(name, value)
        return _records.platform(fields) if name == "platform" else Limits(**fields)
    if name in {"panel", "panels", "catalogue"}:
        return _records.panel(value)
    if name in {"genes", "nomenclature"}:
        return _records.genes(value)
    if name == "efficiency" and isinstance(value, dict) and not np.isscalar(value.get("X", 0.0)):
        return put_together(value)
    return value


def _written_by(
    target: str,
    parts: dict[str, Any],
    options: dict[str, Any],
    *,
    call: Callable[..., Any] | None = None,
) -> dict[str, Any]:
    """Call a function that writes to ``.var``, ``.obs`` and ``.uns``, and tell what it wrote.

    With `call` that is called instead, with the arguments that R has.
    """
    arguments = _arguments(target, options)
    sets = {"": put_together(parts)}
    function = call or formals.FUNCTIONS[target]
    return _written_to(sets, lambda sets: function(sets[""], **arguments))[""]


def _written_to(
    sets: dict[str, ad.AnnData], call: Callable[[dict[str, ad.AnnData]], None]
) -> dict[str, dict[str, Any]]:
    """Call a function that writes to data sets, and tell of each what it wrote."""
    before = {}
    for name, adata in sets.items():
        adata.var["_row"] = np.arange(adata.n_vars)
        before[name] = {"var": adata.var.copy(), "obs": adata.obs.copy()}
    call(sets)
    return {name: _changes(adata, before[name]) for name, adata in sets.items()}


def _changes(adata: ad.AnnData, before: dict[str, pd.DataFrame]) -> dict[str, Any]:
    rows = adata.var["_row"].to_numpy()
    del adata.var["_row"]
    gone = {
        name: list(set(table) - {*getattr(adata, name), "_row"}) for name, table in before.items()
    }
    return {
        "rows": rows + 1,
        "var": _new_columns(adata.var, before["var"].iloc[rows]),
        "obs": _new_columns(adata.obs, before["obs"]),
        "gone": {name: _values.strings(columns) for name, columns in gone.items()},
        # The records that R handed over have no versions.
        "records": {
            key: _records.for_r(entry, adata.var_names)
            for key, entry in adata.uns.items()
            if "versions" in entry
        },
    }


def _evaluated_by(target: str, parts: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """The same for a function that evaluates panels, by a structure that R may name.

    What Python has in one argument R has in several: `preserve`, `cell_weights`, `use_rep`, and the
    parameters of a structure.
    """
    function, own = formals.FUNCTIONS[target], formals.more(target)
    every = inspect.signature(function).parameters

    def evaluate(adata: ad.AnnData, **given: Any) -> None:
        named = {name: given.pop(name) for name in own & set(given)}
        for name in {"cell_weights", "use_rep"} & set(named):
            if named[name] is None:
                del named[name]
        if named:
            panel = given.get("panel", every["panel"].default) if "panel" in every else None
            given["preserve"] = _preserve(adata, panel, given.get("preserve"), named)
        function(adata, **given)
        for entry in adata.uns.values():  # the structure given here is gone afterwards
            if entry.get("params", {}).get("use_rep") == _GIVEN:
                entry["params"]["use_rep"] = entry["structure"]["use_rep"]

    return _written_by(target, parts, options, call=evaluate)


def _preserve(adata: ad.AnnData, panel: Any, target: Any, named: dict[str, Any]) -> Preserve:
    """What panels are judged by: the rest is what a selection was made for."""
    recorded: dict[str, Any] = {}
    if isinstance(panel, str) and panel in adata.uns and f"{panel}_selected" in adata.var:
        recorded = pp.recorded_parameters(adata, panel)
    given = {name: value for name, value in named.items() if name != "cell_weights"}
    weights = named.get("cell_weights")
    if target is None:
        target = recorded.get("preserve", "structure")
        weights = named.get("cell_weights", recorded.get("cell_weights"))
    use_rep = given.get("use_rep")
    if given.keys() - {"use_rep"}:
        if structures.specified(adata, StructureSpec(use_rep=use_rep)).stored_key is not None:
            raise InvalidValue(
                "use_rep",
                use_rep,
                "names a structure that is there",
                f"leave {', '.join(sorted(given.keys() - {'use_rep'}))} out",
            )
        pp.structure(adata, **given, key_added=_GIVEN)
        use_rep = _GIVEN
    return Preserve(target, weights, use_rep)


def _selected(parts: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """The genes of one object."""
    return _written_by("select_genes", parts, options, call=_select)


def _selected_from(sets: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """The genes of several data sets."""
    arguments = _arguments("select_genes", options)
    return _written_to(
        {name: put_together(parts) for name, parts in sets.items()},
        lambda objects: _select(objects, **arguments),
    )


def _select(objects: Any, **options: Any) -> None:
    pp.select_genes(objects, **_with_penalty(options))


def _with_penalty(options: dict[str, Any]) -> dict[str, Any]:
    """Options with λ where Python has it: in the objective."""
    rest = {name: value for name, value in options.items() if name != "lam"}
    if options.get("lam") is None:
        return rest
    name = options.get("objective", "error")
    return rest | {"objective": OBJECTIVES.made("objective", name, lam=options["lam"])}


def _structure(parts: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """The structure of the cells, for R to keep."""
    records = {}

    def keep(adata: ad.AnnData, key_added: str = structures.KEY, **given: Any) -> None:
        pp.structure(adata, key_added=key_added, **given)
        records[key_added] = _records.structure(adata, key_added)

    return _written_by("structure", parts, options, call=keep) | {"records": records}


def _stability(parts: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """With workers that are forked, where that can be done."""
    options = _with_penalty(options)
    if options.get("n_jobs") in {None, 1}:
        return _written_by("stability", parts, options)
    if not can_fork():
        log.warning(
            Message(
                f"{arg('n_jobs')}: processes cannot be forked on this system, so that there is one."
            )
        )
        return _written_by("stability", parts, options | {"n_jobs": 1})
    with parallel_config(Forked()):
        return _written_by("stability", parts, options)


def _classified_by(target: str, parts: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """The same for classifiers: of several classes each has a column of its own."""

    def call(adata: ad.AnnData, **given: Any) -> None:
        formals.FUNCTIONS[target](adata, **given)
        key = given.get("key_added", _CLASSIFIER)
        tables = [(adata.obs, adata.obsm, f"{key}_decision")]
        if target == "classify":
            tables.append((adata.var, adata.varm, f"{key}_coef"))
        for table, arrays, name in tables:
            old = [column for column in table if column.startswith(f"{name}.")]
            table.drop(columns=old, inplace=True)
            if name in arrays:
                columns = zip(adata.uns[key]["classes"], arrays.pop(name).T, strict=True)
                for label, column in columns:
                    table[f"{name}.{label}"] = column

    return _written_by(target, parts, options, call=call)


def _new_columns(table: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    new = [name for name in table if name not in before or not table[name].equals(before[name])]
    return table[new]


def _laprls(parts: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Fit LapRLS to all genes."""
    arguments = _arguments("laprls", options)
    adata, labels = put_together(parts), arguments.pop("labels", None)
    if labels is None:
        raise InvalidType("labels", NO_VALUE, "is missing", "name a column or give one a sample")
    codes, categories = columns.labels(adata, labels, "labels")
    check_classes(categories[codes[codes >= 0]].astype(str), name="labels")
    model = LapRLSClassifier(**arguments).fit(read.matrix(adata), codes)
    return {
        "classes": _values.strings(categories[model.classes_].astype(str)),
        "genes": _values.strings(adata.var_names),
        "coef": model.coef_.T,
        "intercept": model.intercept_,
    }


def _write_classifier(record: dict[str, Any], path: str, overwrite: bool) -> None:
    adata = ad.AnnData(np.zeros((1, 1)), uns={_CLASSIFIER: _records.from_r(record)})
    io.write_classifier(adata, path, key=_CLASSIFIER, overwrite=overwrite)


def _read_classifier(path: str) -> dict[str, Any]:
    return _records.for_r(io.read_classifier(path))


def _read_panel(path: str, **options: str | None) -> dict[str, Any]:
    """A panel out of a file."""
    panel = io.read_panel(path, **options)
    words = panel.table.select_dtypes(object).columns  # of a workbook also numbers
    table = panel.table.astype(dict.fromkeys(words, str))
    names = {name: _values.strings(getattr(panel, name)) for name in ("controls", "repeated")}
    about = {"form": panel.form, **names, "codebook": panel.codebook, "about": panel.about}
    return _records.for_r({"table": table}) | {"about": about}


def _write_order(
    parts: dict[str, Any] | None, orders: dict[str, Any], path: str, **options: Any
) -> None:
    """Write an order, of which the object may be gone."""
    adata = ad.AnnData() if parts is None else put_together(parts)
    adata.uns.update({key: _records.from_r(order) for key, order in orders.items()})
    io.write_order(adata, path, **options)


def _write_reference(
    parts: dict[str, Any], path: str, labels: str, counts_layer: str, **options: Any
) -> None:
    """Write a reference; the matrix of the object is that of raw counts."""
    adata = put_together(parts | {"layers": {counts_layer: parts["X"]}})
    io.write_reference(adata, path, labels, counts_layer=counts_layer, **options)


def _read_h5ad(path: str, X_name: str) -> dict[str, Any]:
    parts, left = take_apart(ad.read_h5ad(path), X_name)
    return parts | {"left": _values.strings(left)}


def _estimated(reference: dict[str, Any], spatial: dict[str, Any], labels: Any) -> pd.DataFrame:
    """Efficiencies of genes, from the counts of two objects."""
    return tl.estimate_efficiency(put_together(reference), put_together(spatial), labels)


def _example() -> dict[str, Any]:
    """The blood cells that scanpy ships."""
    needs("The example", "scanpy")
    import scanpy as sc

    return take_apart(sc.datasets.pbmc68k_reduced().raw.to_adata(), "logcounts")[0]


#: By the names that R has for them.
TARGETS: dict[str, Callable[..., Any]] = {
    "about": _about,
    "select_genes": _selected,
    "select_genes_of_sets": _selected_from,
    "structure": _structure,
    "stability": _stability,
    "evaluate_panel": partial(_evaluated_by, "evaluate_panel"),
    "extend_panel": partial(_evaluated_by, "extend_panel"),
    "substitutes": partial(_evaluated_by, "substitutes"),
    "explain_panel": partial(_evaluated_by, "explain_panel"),
    "compare_panels": partial(_evaluated_by, "compare_panels"),
    "curve": partial(_evaluated_by, "curve"),
    "markers": partial(_written_by, "markers"),
    "estimate_efficiency": _estimated,
    "classify": partial(_classified_by, "classify"),
    "predict": partial(_classified_by, "predict"),
    "write_classifier": _write_classifier,
    "read_classifier": _read_classifier,
    "resolve_genes": partial(_written_by, "resolve_genes"),
    "order_panel": partial(_written_by, "order_panel"),
    "write_order": _write_order,
    "write_reference": _write_reference,
    "read_panel": _read_panel,
    "laprls": _laprls,
    "example": _example,
    "read_h5ad": _read_h5ad,
}
