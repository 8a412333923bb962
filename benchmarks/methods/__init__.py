"""Methods that choose genes: glfs_bio, rivals of this environment, and tools in their own.

`ours` has what is asked of glfs_bio, `rivals` a function a method, `environments` what runs the
tools of `tools.py`.
"""

from __future__ import annotations

import hashlib
import inspect
import time
import traceback
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from .. import data, store
from ..tables import installed, say
from . import ours, rivals
from .environments import SECONDS, Tool

if TYPE_CHECKING:
    from collections.abc import Callable

OURS, UNITS, BEFORE = "ours", "units", "before"
RANKER, PLAIN, RIVAL, PEER = "rankers", "plain", "rivals", "peers"
#: Ours, also for expression, and the published method.
DEFAULT, EXPRESSION, PUBLISHED = "glfs_bio", "glfs_bio, expression", "GLFS (2014)"
PUBLISHED_PLAIN = f"{PUBLISHED}, log counts"
#: LapAOFS in our units of noise.
LAPAOFS = "select_genes, lapaofs"
#: The default that counted noise as structure.
BEFORE_NOISE = "glfs_bio before (e3bc2e2)"
#: The code that saw genes on an instrument as clear as in the reference.
BEFORE_INSTRUMENT = "30317d0"
#: A nested method ranks once, for all sizes.
RANKED = 200
PACKAGE = "glfs-bio"


@dataclass(frozen=True)
class Method:
    """A way to choose genes in this environment.

    Parameters
    ----------
    select : callable, optional
        Take cells and a number, return genes, best first.  None: panels are in the store, and the
        code that chose them is gone.
    group : str, default "rivals"
        Kind of method.
    package : str, default "scanpy"
        What it belongs to.
    nested : bool, default True
        Whether it ranks once, for the largest size; others are asked again for every size.
    prepare : callable, optional
        Take cells and return them prepared, outside the clock.
    """

    select: Callable | None
    group: str = RIVAL
    package: str = "scanpy"
    nested: bool = True
    prepare: Callable = lambda adata: adata

    @property
    def own(self) -> bool:
        """Whether its panels may change with this package."""
        return self.package == PACKAGE

    @property
    def fingerprint(self) -> str:
        """Changes with whatever could change the genes."""
        if self.select is None:
            return self.package
        function = getattr(self.select, "func", self.select)
        sources = map(inspect.getsource, (data.prepared, rivals.with_graph, function))
        origin = ours.package_digest() if self.own else installed(self.package)
        return hashlib.sha256("".join([*sources, origin]).encode()).hexdigest()[:16]

    def panels(self, adata, sizes: list[int]) -> dict[int, dict]:
        """Return genes and seconds by size, or what went wrong."""
        if self.select is None:
            return {}
        prepared = self.prepare(adata)
        largest = max(max(sizes), min(RANKED, adata.n_vars))
        asked = [largest] if self.nested else sizes
        return {size: attempt(self.select, prepared, size) for size in asked}


def attempt(select: Callable, adata, size: int) -> dict:
    """Return genes and seconds, or what went wrong."""
    begin = time.perf_counter()
    try:
        genes = [int(gene) for gene in select(adata, size)]
    except Exception as error:  # noqa: BLE001  a rival may fail in any way: it is reported
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"}
    return {"genes": genes, "seconds": time.perf_counter() - begin}


def choose(name: str, method: Method | Tool, place: str, adata, sizes: list[int]) -> store.Entry:
    """Return panels of a method; those that are not stored, or are of other code, are chosen."""
    entry = store.entry_of(name, place, method)
    missing = [size for size in sizes if not (entry.current and entry.panel(size))]
    if missing:
        begin = time.perf_counter()
        for size, panel in method.panels(adata, missing).items():
            entry.put(size, **panel)
        say(f"{place}, {name}: chosen in {time.perf_counter() - begin:.1f} s")
    return entry


def own(select: Callable, group: str = OURS, **options) -> Method:
    """Return what is asked of this package."""
    return Method(partial(select, **options) if options else select, group, PACKAGE)


def before(commit: str, *, nested: bool = False) -> Method:
    """Return panels of earlier code, which the store has."""
    return Method(None, BEFORE, f"{PACKAGE} at {commit}", nested=nested)


#: Without labels, in this environment.
METHODS: dict[str, Method] = {
    DEFAULT: own(ours.select_genes),
    f"{DEFAULT}, PCA and graph named": replace(
        own(ours.select_genes, **ours.SCANPY), prepare=rivals.with_graph
    ),
    f"{DEFAULT}, standardize=None": own(ours.select_genes, UNITS, standardize=None),
    BEFORE_NOISE: before("e3bc2e2"),
    "GLFS before (439dcb3)": before("439dcb3"),
    PUBLISHED: replace(own(ours.published), nested=False),
    PUBLISHED_PLAIN: replace(own(ours.published, standardize=None), nested=False),
    **{
        f"select_genes, {name}": own(ours.select_genes, RANKER, method=name) for name in ours.PAPERS
    },
    **{
        f"select_genes, {name}, standardize=None": own(
            ours.select_genes, PLAIN, method=name, standardize=None
        )
        for name in ours.PAPERS
    },
    "HVG seurat": Method(partial(rivals.highly_variable, flavor="seurat")),
    "HVG cell_ranger": Method(partial(rivals.highly_variable, flavor="cell_ranger")),
    "HVG seurat_v3": Method(partial(rivals.highly_variable, flavor="seurat_v3")),
    "Pearson residuals": Method(rivals.pearson_residuals),
    "triku": Method(rivals.triku, package="triku"),
    "hotspot, by Z": Method(partial(rivals.hotspot, by="Z"), package="hotspotsc"),
    "hotspot, by C": Method(partial(rivals.hotspot, by="C"), package="hotspotsc"),
    "variance": Method(rivals.variance, package="numpy"),
    "random": Method(rivals.random, package="numpy"),
}

#: With labels.
LABELLED: dict[str, Method | Tool] = {
    "glfs_bio, labels": own(ours.select_genes, preserve=data.LABEL),
    "glfs_bio, no labels": own(ours.select_genes),
    "SupervisedGLFS, 50 components": replace(own(ours.class_graph), nested=False),
    "t-test, in turn": Method(partial(rivals.markers, test="t-test")),
    "Wilcoxon, in turn": Method(partial(rivals.markers, test="wilcoxon")),
    "logistic regression, in turn": Method(partial(rivals.markers, test="logreg")),
    "scGeneFit": Tool("scgenefit"),
    "NS-Forest": Tool("nsforest"),
    "SepSolve": Tool("sepsolve"),
    "PERSIST": Tool("persist"),
    "Spapros": Tool("spapros"),
}

#: The tools for panels that need no labels, with an hour for the panels of a whole dataset.
TOOLS = {
    "Spapros PCA": Tool("spapros_pca", labels=False, packages="spapros"),
    "geneBasis": Tool("genebasis", labels=False),
    "SCMER": Tool("scmer", labels=False, keep_memory=True),
    "GeneCover": Tool("genecover", labels=False, apart=True),
}
#: `make bench-peers` compares these.
COMPARED: dict[str, Method | Tool] = {
    DEFAULT: METHODS[DEFAULT],
    EXPRESSION: own(ours.select_genes, preserve="expression"),
    **{name: METHODS[name] for name in (PUBLISHED, PUBLISHED_PLAIN, LAPAOFS)},
    **{name: method for name, method in METHODS.items() if method.group == RIVAL},
    **{name: replace(tool, group=PEER, limit=6 * SECONDS) for name, tool in TOOLS.items()},
}
#: What the panels of this package are compared with.
RIVALS = [name for name in COMPARED if name not in (DEFAULT, EXPRESSION)]


def shortened(method: Method | Tool) -> Method | Tool:
    """Give a tool the time of a part of a dataset."""
    return replace(method, limit=SECONDS) if isinstance(method, Tool) else method


def versions(methods: dict[str, Method | Tool]) -> str:
    """Return the packages of some methods, with their versions."""
    packages = {one.package for one in methods.values() if isinstance(one, Method)}
    pinned = [one.version for one in methods.values() if isinstance(one, Tool)]
    return ", ".join([*map(installed, sorted(packages)), *dict.fromkeys(pinned)])
