"""What is compared: GLFS, other packages in this environment, and peers in their own; no labels."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import cache
import sets
from cases import PERTURBED, QUARTERS
from methods import METHODS, RIVAL, Method, installed, select_genes
from peers.environments import PEERS, SECONDS, Peer
from run import attempt, say

if TYPE_CHECKING:
    from cases import Case

SIZES = (10, 25, 50, 100, 150)
#: A nested method ranks once for all sizes, also those of `panels/run.py`, which share a place.
RANKED = max(*SIZES, *sets.SIZES)
OURS, EXPRESSION, PEER = "GLFS", "GLFS, expression", "peers"
LABEL = "label"

COMPARED: dict[str, Method | Peer] = {
    OURS: METHODS[OURS],
    EXPRESSION: replace(METHODS[OURS], select=partial(select_genes, preserve="expression")),
    **{name: method for name, method in METHODS.items() if method.group == RIVAL},
    **{name: replace(peer, group=PEER) for name, peer in PEERS.items()},
}
#: What the panels of this package are compared with.
RIVALS = [name for name in COMPARED if name not in (OURS, EXPRESSION)]


def method_on(name: str, case: Case) -> Method | Peer:
    """The method as it is asked on a set: a peer has less time on quarters and perturbed sets."""
    method = COMPARED[name]
    short = isinstance(method, Peer) and case.group in (QUARTERS, PERTURBED)
    return replace(method, limit=SECONDS) if short else method


def selections(name: str, case: Case) -> cache.Selections:
    """Panels of one method on one set that are stored."""
    return cache.kept(name, case.name, method_on(name, case))


def choose(name: str, case: Case, sizes: list[int]) -> None:
    """Compute the panels that are not stored, or are of other code."""
    method, kept = method_on(name, case), selections(name, case)
    missing = [size for size in sizes if not (kept.current and kept.panel(size))]
    if not missing:
        return
    begin = time.perf_counter()
    if isinstance(method, Peer):
        found = method.panels(case.adata, LABEL, missing)
    elif method.nested:
        found = {RANKED: attempt(method, method.prepare(case.adata), RANKED)}
    else:
        adata = method.prepare(case.adata)
        found = {size: attempt(method, adata, size) for size in missing}
    for size, panel in found.items():
        kept.put(size, **panel)
    say(f"{case.name}, {name}: chosen in {time.perf_counter() - begin:.0f} s")


def versions() -> str:
    """Packages and peers."""
    packages = {one.package for one in COMPARED.values() if isinstance(one, Method)}
    pinned = [one.version for one in COMPARED.values() if isinstance(one, Peer)]
    return ", ".join([*map(installed, sorted(packages)), *dict.fromkeys(pinned)])
