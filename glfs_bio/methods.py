"""Ways to rank genes: the objectives of GLFS, and the methods that it is compared with.

A new one is a :class:`Method` in a file of its own, and a line in :data:`OBJECTIVES` or
:data:`METHODS`, which resolve names wherever a name may be given.
"""

from __future__ import annotations

from collections import UserDict
from dataclasses import fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import checks
from .errors import InvalidValue, short
from .solvers.panel import Method

if TYPE_CHECKING:
    from collections.abc import Mapping


class Registry(UserDict[str, Any]):
    """Methods by name; a text ``module:Class`` stands for one with its default options, which is
    imported when it is asked for.
    """

    def __getitem__(self, name: str) -> Method:
        entry = self.data[name]
        if isinstance(entry, str):
            module, _, kind = entry.partition(":")
            entry = getattr(import_module(module), kind)()
        method: Method = entry
        return method

    def resolve(self, argument: str, value: object) -> Method:
        """Return a method, by its name or as an instance."""
        if isinstance(value, Method):
            return value
        checks.one_of(argument, value, self)
        return self[str(value)]

    def with_options(self, argument: str, name: object, **options: Any) -> Method:
        """Return a method with some options; None is one that is not given."""
        method = self.resolve(argument, name)
        options = {option: value for option, value in options.items() if value is not None}
        for option in options.keys() - {field.name for field in fields(method)}:
            text = f"`{option}={short(options[option])}` is no option of {method.name}"
            raise InvalidValue(f"{text}: leave it out, or choose another `objective`")
        return replace(method, **options)

    def restored(self, argument: str, record: str | Mapping[str, Any]) -> str | Method:
        """Return the method that :meth:`Method.record` describes, by its name where that is all."""
        if isinstance(record, str):
            return record
        options = dict(record)
        return replace(self.resolve(argument, options.pop("name")), **options)


#: Objectives of ``method="glfs"``.
OBJECTIVES = Registry(
    error="glfs_bio.selection:PosteriorVariance",
    exact="glfs_bio.glfs2014.objective:Exact",
    printed="glfs_bio.glfs2014.objective:Printed",
)

#: Methods; ``"glfs"``, the default, ranks by an objective.
METHODS = Registry(
    glfs="glfs_bio.selection:PosteriorVariance",
    lapaofs="glfs_bio.rivals.designs:LapAOFS",
    lapdofs="glfs_bio.rivals.designs:LapDOFS",
    laplacian_score="glfs_bio.rivals.laplacian_score:LaplacianScore",
    q_alpha="glfs_bio.rivals.q_alpha:QAlpha",
    sparse_pca="glfs_bio.rivals.sparse_pca:SparsePCA",
    variance="glfs_bio.rivals.variance:LargestVariance",
)
