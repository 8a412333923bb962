"""The stages of a selection under clocks, and the work of each."""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cached_property
from importlib import import_module
from unittest import mock

import work
from clock import Clock
from glfs_bio.cells.sample import Sample

from glfs_bio.cells import cells as problem
from glfs_bio.cells import noise
from glfs_bio.cells import pca as krylov
from glfs_bio.cells import pca as subspace
from glfs_bio.criterion.criterion import Criterion
from glfs_bio.criterion.error import Error
from glfs_bio.data import products
from glfs_bio.selection import _rank_genes
from glfs_bio.selection._reduced_cells import ReducedCells
from glfs_bio.solvers import greedy

select = import_module("glfs_bio.solvers.select")  # the package has a function of this name

REST = "the rest"
MOMENTS, DRAWN = "moments", "first look: cells drawn"
TRANSPOSE = "transpose of the matrix"
FIRST, SECOND = "first look: components", "second look: components"
NEIGHBOURS, NOISE, PROJECTIONS = "neighbours", "noise", "projections"
CHECK = "whether what is given will do"
CHOICE, CERTIFICATE = "choice of genes", "certificate"
#: What is called the first look's where it follows its components and no others.
_OF_LOOKS = {name: f"first look: {name}" for name in (NEIGHBOURS, NOISE)}
STAGES = (
    MOMENTS,
    TRANSPOSE,
    DRAWN,
    FIRST,
    *_OF_LOOKS.values(),
    SECOND,
    NEIGHBOURS,
    NOISE,
    PROJECTIONS,
    CHECK,
    CHOICE,
    CERTIFICATE,
    REST,
)
_PARTS = (
    (problem, "look", work.read, MOMENTS),
    (Sample, "part", work.drawn, DRAWN),
    (Sample, "coordinates", None, FIRST),
    (Sample, "weights", None, SECOND),
    (Sample, "graph", work.distances, NEIGHBOURS),
    (noise, "measure", None, NOISE),
    (noise, "_quadratic_forms", work.forms),
    (subspace, "orthonormal", work.orthonormal, PROJECTIONS),
    (subspace, "project", None, PROJECTIONS),
    (problem, "_missed", None, CHECK),
    (ReducedCells, "criterion", work.whitened, CHOICE),
    (_rank_genes, "best_panel", None, CHOICE),
    (products, "_product", work.product),
    (krylov, "_directions", work.directions),
    (Criterion, "on", work.turned),
    (greedy._Measured, "__init__", work.first_gains),
    (greedy._Measured, "update", work.update),
    (Error, "inverse", work.inverse),
    (Error, "gradient", work.gradient),
)


class Watched:
    """Clocks and work by stage of all that is called within the context.

    A stage that calls another keeps its clock running, unless the other is `apart`.
    """

    def __init__(self) -> None:
        self.clocks: dict[str, Clock] = defaultdict(Clock)
        self.work: dict[str, work.Work] = defaultdict(work.Work)
        self._open: list[str] = []
        self._looks = 0

    def __enter__(self) -> Watched:
        with ExitStack() as patches:
            for patch in self._patches():
                patches.enter_context(patch)
            self._undo = patches.pop_all()
        self._open = [REST]
        self.clocks[REST].__enter__()
        return self

    def __exit__(self, *_) -> None:
        self.clocks[REST].__exit__()
        self._undo.close()

    def _patches(self):
        for owner, name, *how in _PARTS:
            yield mock.patch.object(owner, name, self._watch(getattr(owner, name), *how))
        relax = self._watch(select.relax, None, CERTIFICATE, apart=True)
        yield mock.patch.object(select, "relax", relax)
        transposed = products.Sparse.transposed.func
        watched = cached_property(self._watch(transposed, work.transposed, TRANSPOSE, apart=True))
        watched.__set_name__(products.Sparse, "transposed")
        yield mock.patch.object(products.Sparse, "transposed", watched)

    def _watch(self, function, count=None, stage: str | None = None, *, apart: bool = False):
        """The function under the clock of a stage; `count` tells its work."""

        def watched(*arguments, **options):
            with nullcontext() if stage is None else self._stage(stage, apart=apart):
                result = function(*arguments, **options)
                if count is not None:
                    self.work[self._open[-1]] += count(result, *arguments)
            return result

        return watched

    @contextmanager
    def _stage(self, name: str, *, apart: bool):
        outer = self._open[-1]
        if outer != REST and not apart:
            yield
            return
        self.clocks[outer].__exit__()
        self._open.append(self._of_look(name))
        with self.clocks[self._open[-1]]:
            yield
        self._open.pop()
        self.clocks[outer].__enter__()

    def _of_look(self, name: str) -> str:
        if name == FIRST:
            self._looks += 1
            return FIRST if self._looks == 1 else SECOND
        return _OF_LOOKS.get(name, name) if self._looks == 1 else name
