"""Panels and their measures on disk, so that only what changed is computed again."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import metrics
import sets
from methods import OWN

if TYPE_CHECKING:
    from methods import Method

HOME = Path(__file__).resolve().parents[1] / ".cache" / "panels"
#: In the tree: what other packages choose costs hours, and does not change with this one.
CHOSEN = Path(__file__).resolve().parents[1] / "results" / "chosen"


def _read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _write(path: Path, content: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(content), encoding="utf-8")
    draft.replace(path)


class Selections:
    """What one method chose on one set, size by size: ``{"genes", "seconds"}`` or ``{"error"}``."""

    def __init__(self, name: str, set_name: str, method: Method, home: Path = HOME):
        self.fingerprint = method.fingerprint
        self.nested: bool = getattr(method, "nested", False)
        self.path = home / set_name / f"{re.sub(r'[^0-9A-Za-z]+', '_', name)}.json"
        stored = _read(self.path)
        self.current = stored.get("fingerprint") == self.fingerprint
        self.sizes: dict[str, dict] = stored.get("sizes", {})

    def has(self, n_genes: int) -> bool:
        """Whether the present code chose a panel of this size."""
        return self.current and str(n_genes) in self.sizes

    def get(self, n_genes: int) -> dict:
        """The panel of this size, of whatever code; empty where there is none."""
        return self.sizes.get(str(n_genes), {})

    def panel(self, n_genes: int) -> dict:
        """The same; of a nested method, the first genes of the next larger panel if need be."""
        larger = [size for size in sorted(map(int, self.sizes)) if size >= n_genes]
        found = dict(self.get(larger[0] if larger and self.nested else n_genes))
        return found | ({"genes": found["genes"][:n_genes]} if "genes" in found else {})

    def put(self, n_genes: int, **content) -> None:
        """Store a panel, and forget those of other code."""
        if not self.current:
            self.sizes, self.current = {}, True
        self.sizes[str(n_genes)] = content
        _write(self.path, {"fingerprint": self.fingerprint, "sizes": self.sizes})


def kept(name: str, set_name: str, method: Method) -> Selections:
    """Panels of a method on a set, or on parts of one; those of other packages are in the tree."""
    return Selections(name, set_name, method, HOME if method.group in OWN else CHOSEN)


def measures(cells: sets.Cells, genes: list[int], *, compute: bool = True) -> dict[str, float]:
    """Every metric of a panel, whichever method it comes from; or those that are stored."""
    chosen = tuple(sorted(genes))
    path = HOME / cells.name / "measures" / f"{_digest(repr(chosen))}.json"
    parts = (sets.load, sets.nearest, sets.Cells, metrics.Panel)
    shared = "".join(map(inspect.getsource, parts))
    stored = _read(path)
    values = {}
    panels = metrics.Panel(cells, chosen), metrics.Panel(cells, chosen, sets.N_COMPS)
    for panel, measured in zip(panels, (metrics.METRICS, metrics.OTHERS), strict=True):
        for name, metric in measured.items():
            key = f"{name} {_digest(shared + inspect.getsource(metric))}"
            if compute and key not in stored:
                stored[key] = metric(panel)
                _write(path, stored)
            if key in stored:
                values[name] = stored[key]
    return values


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
