"""Ways to rank genes: the objectives of GLFS, and the methods that it is compared with.

Each is one class in one file.  A new one is a :class:`Method` in a file of its own, and a line in
:data:`OBJECTIVES` or :data:`METHODS`, which resolve names wherever a name may be given.
"""

from __future__ import annotations

from collections import UserDict
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from . import checks
from .errors import InvalidValue, short

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._typing import Index
    from .cells.cells import Cells
    from .criterion.criterion import Criterion
    from .options import Request, StructureSpec
    from .panel import Panel
    from .selection import Candidates


@dataclass(frozen=True)
class Method:
    """A way to rank genes.  A subclass has its options as fields, and checks them.

    It implements :meth:`rank`, or, `by_criterion`, :meth:`answer`.
    """

    #: Name in a registry, and in what is recorded.
    name: ClassVar[str]
    title: ClassVar[str] = ""
    #: Authors and year.
    reference: ClassVar[str] = ""
    #: Whether it chooses the number of genes where none is given.
    chooses_size: ClassVar[bool] = False
    #: Whether genes come from the criterion for panels: it answers every request, takes cells
    #: without their matrix, and its panels hold whole genes.
    by_criterion: ClassVar[bool] = False
    #: Whether it needs all directions of the cells, those too that no gene reaches.
    whole_space: ClassVar[bool] = False

    def standardize(self, n_comps: int | None) -> str | None:
        """Units of genes where none are asked for; at full rank (None) genes are as they are."""
        return None if n_comps is None else "noise"

    def rank(
        self, problems: Sequence[Cells], n_genes: int, *, include: Index, spec: StructureSpec
    ) -> Panel:
        """Rank the genes of one reduced problem per batch, those of `include` first.

        `n_genes` is None too where the method chooses a size.
        """
        raise NotImplementedError

    def answer(self, request: Request, criterion: Criterion, candidates: Candidates) -> Panel:
        """Rank candidates by the criterion of the cells, over all genes."""
        raise NotImplementedError

    @property
    def walks(self) -> bool:
        """Whether :meth:`panels` gives selections of all sizes at the cost of one."""
        return False

    def panels(
        self, problems: Sequence[Cells], sizes: Sequence[int], include: Index
    ) -> list[Panel]:
        """Return selections of several sizes, each another solution."""
        raise NotImplementedError

    def record(self) -> str | dict[str, Any]:
        """The name, with options that are not the default, as ``.uns`` can keep them."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        defaults = {field.name: field.default for field in fields(self)}
        changed = {name: options[name] for name in options if options[name] != defaults[name]}
        return {"name": self.name, **changed} if changed else self.name


class Registry(UserDict[str, Any]):
    """Methods by name.

    A text ``module:Class`` stands for one with its default options: it is imported when it is asked
    for, and names can be listed without that.
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
            raise InvalidValue(
                f"`{option}={short(options[option])}` is no option of {method.name}: leave it out, "
                "or choose another `objective`"
            )
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
