"""Ways to rank genes: the objectives of GLFS, and the methods that it is compared with.

Each is one class in one file.  A new one is a :class:`Method` in a file of its own, and a line in
:data:`OBJECTIVES` or :data:`METHODS`, which resolve names wherever a name may be given.
"""

from __future__ import annotations

from collections import UserDict
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from . import checks
from .errors import NO_VALUE, InvalidType, InvalidValue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._typing import Index
    from .cells.cells import Cells, Reduction
    from .criterion.criterion import Criterion, Target
    from .criterion.platform import Detection
    from .ranking import Ranking
    from .solvers.constraints import Rows

ACROSS = ("mean", "worst")


@dataclass(frozen=True)
class Question:
    """A selection that is asked for, whoever answers.

    Attributes
    ----------
    n_genes
        Size of the selection.  None: the method chooses.
    include
        Indices of genes that are in the selection from the start.
    candidates
        Sorted genes that may be selected; None: all.  The others are seen too: they are part of the
        structure that is to be preserved.
    rows
        Limits on the panel, over all genes.
    detection
        What the target platform detects of each gene; None: what the reference does.
    target
        What is to be preserved of all cells; None: the structure.
    across
        Whether F is the mean over the batches, or that of the batch of which least is preserved.

    Raises
    ------
    InvalidType, InvalidValue
        A value out of range.
    """

    n_genes: int | None = None
    include: Any = ()
    candidates: Any = None
    rows: Rows | None = None
    detection: Detection | None = None
    target: Target | None = None
    across: Literal["mean", "worst"] = "mean"

    def __post_init__(self) -> None:
        checks.whole_number("n_genes", self.n_genes, at_least=1, or_none=True)
        checks.one_of("across", self.across, ACROSS)

    @property
    def has_budget(self) -> bool:
        """Whether a budget determines the number of genes."""
        return self.rows is not None and self.rows.budget

    @property
    def of_criterion(self) -> str | None:
        """The first argument that only the criterion for panels answers; None where none is set."""
        given = {
            "limits": self.rows,
            "platform": self.detection,
            "preserve": self.target,
        }
        names = [name for name, value in given.items() if value is not None]
        return names[0] if names else "across" if self.across != "mean" else None

    def among(self, n_features: int) -> Question:
        """The question for a matrix of so many genes, `include` and `candidates` as arrays.

        Raises
        ------
        InvalidType, InvalidValue
            Genes that the matrix does not have, or more to include than to select.
        """
        import numpy as np  # names of methods should not wait for it

        candidates = np.arange(n_features) if self.candidates is None else self.candidates
        return replace(self, include=self._included(n_features), candidates=candidates)

    def _included(self, n_features: int) -> Index:
        import numpy as np

        genes = np.unique(self.include)
        if not len(genes):
            return np.empty(0, dtype=np.intp)
        if genes.dtype.kind not in "iu":
            raise InvalidType(
                "include", NO_VALUE, "has dtype {dtype}", "give indices of genes", dtype=genes.dtype
            )
        genes = genes.astype(np.intp)
        outside = genes[(genes < 0) | (genes >= n_features)]
        if len(outside):
            raise InvalidValue(
                "include",
                NO_VALUE,
                "has gene {gene}, but there are {n} genes",
                gene=outside[-1],
                n=n_features,
            )
        if self.n_genes is not None and len(genes) > self.n_genes:
            raise InvalidValue(
                "include",
                NO_VALUE,
                "has {n} genes, more than {arg:n_genes} allows",
                "ask for {n} genes or more",
                n=len(genes),
            )
        return genes


@dataclass(frozen=True)
class Method:
    """A way to rank genes.  A subclass has its options as fields, and checks them.

    It implements :meth:`rank`, or :meth:`answer` where it needs the criterion for panels.
    """

    #: Name in a registry, and in what is recorded.
    name: ClassVar[str]
    title: ClassVar[str] = ""
    #: Authors and year.
    reference: ClassVar[str] = ""
    #: Whether it chooses the number of genes where none is given.
    chooses_size: ClassVar[bool] = False
    #: Whether genes come from the criterion for panels: it answers every :class:`Question`, takes
    #: cells without their matrix, and its panels hold whole genes.
    by_criterion: ClassVar[bool] = False
    #: Whether it needs all directions of the cells, those too that no gene reaches.
    whole_space: ClassVar[bool] = False

    def standardize(self, n_comps: int | None) -> str | None:
        """Units of genes where none are asked for; at full rank (None) genes are as they are."""
        return None if n_comps is None else "noise"

    def rank(
        self, problems: Sequence[Cells], n_genes: int, *, include: Index, reduction: Reduction
    ) -> Ranking:
        """Rank the genes of problems.

        Parameters
        ----------
        problems
            One reduced problem per batch, all over the same genes.
        n_genes
            Size of the selection; None too where the method chooses one.
        include
            Genes that come first.
        reduction
            How the matrix became a problem.
        """
        raise NotImplementedError

    def answer(self, question: Question, criterion: Criterion, reduction: Reduction) -> Ranking:
        """Rank the candidates of a question, in their order, and measure the panel.

        Parameters
        ----------
        question
            As :meth:`Question.among` returns it.
        criterion
            F of the cells, over all genes.
        reduction
            How the matrix became a problem.
        """
        import numpy as np

        from .ranking import measured

        candidates = question.candidates
        problems: Any = [one.only(candidates) for one in criterion.sets]
        include = np.searchsorted(candidates, question.include)
        ranking = self.rank(problems, question.n_genes, include=include, reduction=reduction)  # type: ignore[arg-type]
        return measured(ranking, criterion, candidates)

    @property
    def walks(self) -> bool:
        """Whether :meth:`panels` gives selections of all sizes at the cost of one."""
        return False

    def panels(self, problem: Cells, numbers: Sequence[int]) -> list[Ranking]:
        """Selections of several sizes, each another solution."""
        raise NotImplementedError

    def record(self) -> str | dict[str, Any]:
        """The name, with options that are not the default, as ``.uns`` can keep them."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        changed = {
            field.name: options[field.name]
            for field in fields(self)
            if options[field.name] != field.default
        }
        return {"name": self.name, **changed} if changed else self.name


class Registry(UserDict[str, Any]):
    """Methods by name.

    A text ``module:Class`` stands for one with its default options: it is imported when it is asked
    for, and names can be listed without that.
    """

    def __getitem__(self, name: str) -> Method:
        found = self.data[name]
        if isinstance(found, str):
            module, _, kind = found.partition(":")
            found = self.data[name] = getattr(import_module(module), kind)()
        method: Method = found
        return method

    def resolve(self, argument: str, given: object) -> Method:
        """Return a method that is given by its name or as an instance.

        Raises
        ------
        InvalidValue
            Neither.
        """
        if isinstance(given, Method):
            return given
        if not isinstance(given, str) or given not in self:
            checks.one_of(argument, given, self)
        return self[str(given)]

    def made(self, argument: str, name: object, **options: Any) -> Method:
        """Return a method with some options; None is one that is not given.

        Raises
        ------
        InvalidValue
            No such method, or an option that it does not have.
        """
        found = self.resolve(argument, name)
        given = {option: value for option, value in options.items() if value is not None}
        for option, value in given.items():
            if option not in {field.name for field in fields(found)}:
                raise InvalidValue(
                    option,
                    value,
                    "is no option of {method}",
                    "leave it out, or choose another {arg:objective}",
                    method=found.name,
                )
        return replace(found, **given)

    def restored(self, argument: str, record: str | Mapping[str, Any]) -> str | Method:
        """Return the method that :meth:`Method.record` describes, by its name where that is all."""
        if isinstance(record, str):
            return record
        options = {
            name: value.item() if hasattr(value, "item") else value
            for name, value in record.items()
        }
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
