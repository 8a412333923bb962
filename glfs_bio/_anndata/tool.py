"""The frame of a tool: what is checked before it runs, where its result goes, and what is said."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any

from .. import checks
from .._docs import documented
from ..errors import told
from ..options import public
from . import read, results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pandas as pd
    from anndata import AnnData

#: Arguments that say what is computed of and where it is written, do not decide on it, or are long.
_UNRECORDED = {"adata", "panel", "key", "layer", "key_added", "inplace"}
_UNRECORDED |= {"n_jobs", "select", "background"}


@dataclass(frozen=True)
class Result:
    """What a tool computed."""

    #: Values for ``.uns`` by their names, or an envelope of :mod:`.results`.
    content: Mapping[str, Any]
    #: The one of them that the tool returns with ``inplace=False``; None: all.
    returned: str | None = "table"
    #: What is recorded in the place of arguments of the call, or beside them.
    params: dict[str, Any] = field(default_factory=dict)
    #: What it is of, see :func:`.results.made_of`.
    made_of: Mapping[str, Any] | None = None
    #: Columns of ``.obs`` and ``.var``.
    obs: Mapping[str, Any] | None = None
    var: Mapping[str, Any] | pd.DataFrame | None = None
    #: Packages that it depends on, beside those of all numbers.
    packages: tuple[str, ...] = ()


@contextmanager
def _unchanged(adata: AnnData) -> Iterator[None]:
    """Leave an object without what a block computes by the way, such as structures."""
    before = {part: dict(getattr(adata, part)) for part in ("uns", "obsm", "varm")}
    try:
        yield
    finally:
        for part, values in before.items():
            container = getattr(adata, part)
            for name in {*container} - {*values}:
                del container[name]
            container.update(values)


def tool(
    kind: str,
    summary: Callable[[Mapping[str, Any]], Iterable[str]] | None = None,
    *,
    suffix: str | None = None,
    kind_of_several: str | None = None,
) -> Callable[[Callable[..., Result]], Callable[..., Any]]:
    """Make a tool of a function of ``adata``, ``panel`` or ``key``, and ``key_added``.

    With ``inplace=False`` it returns one value of the result, else stores and summarises all of it.
    """

    def decorate(function: Callable[..., Result]) -> Callable[..., Any]:
        signature = inspect.signature(function)

        @wraps(function)
        def run(*args: Any, **keywords: Any) -> Any:
            call = signature.bind(*args, **keywords)
            call.apply_defaults()
            arguments = call.arguments
            adata = arguments["adata"]
            read.check(adata)
            if "panel" in arguments:
                key = results.key_of(adata, arguments["panel"])
            else:
                key = arguments["key"]
                checks.keys(key=key)
            inplace = arguments.get("inplace", True)
            checks.flags(inplace=inplace)
            is_of_several = isinstance(arguments.get("panel"), Mapping)
            of_kind = (is_of_several and kind_of_several) or kind
            key_added = results.key_for(adata, of_kind, arguments["key_added"], key, suffix=suffix)
            arguments["key_added"] = key_added
            if not inplace and adata.is_view:
                adata = arguments["adata"] = adata.copy()  # for what is computed by the way
            with nullcontext() if inplace else _unchanged(adata):
                result = function(*call.args, **call.kwargs)
            if not inplace and result.returned is not None:
                return result.content[result.returned]
            entry = result.content
            if "kind" not in entry:
                params = {name: arguments[name] for name in arguments if name not in _UNRECORDED}
                entry = results.envelope(
                    of_kind, params | result.params, result.made_of, result.packages, **entry
                )
            if not inplace:
                return dict(results.in_files(entry))
            results.store(adata, key_added, entry, obs=result.obs, var=result.var)
            lines = told.get()
            if summary is not None and lines is not None:
                lines += summary(entry)
            return None

        annotation = "pd.DataFrame | None" if "inplace" in signature.parameters else "None"
        if kind_of_several is not None:
            annotation = "dict[str, Any] | None"
        run.__signature__ = signature.replace(return_annotation=annotation)  # type: ignore[attr-defined]
        return public(documented(run))

    return decorate
