"""Panels, figures and measures on disk, so that only what changed is computed again.

What other packages choose costs hours and does not change with this one: it is part of the tree, in
one compressed file.  While a program runs, new contents are files of their own in `.cache`, so that
an interrupted run loses nothing; `merge` adds them to the compressed file at the end.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from .tables import CACHE, RESULTS

if TYPE_CHECKING:
    from pathlib import Path

HOME = CACHE / "panels"
#: New contents of the compressed file.
NEW = CACHE / "chosen"
CHOSEN = RESULTS / "chosen.json.gz"


class Entry:
    """What one method has on one dataset, by key: mostly panels, by their size.

    Parameters
    ----------
    place : str
        Name of the dataset, or of a part of it.
    name : str
        Name of the method.
    fingerprint : str
        Changes with the code that the contents come from.
    shared : bool, default False
        Whether it belongs to the compressed file.
    nested : bool, default False
        Whether a panel is the first genes of the next larger one.
    """

    def __init__(
        self,
        place: str,
        name: str,
        fingerprint: str,
        *,
        shared: bool = False,
        nested: bool = False,
    ):
        key = re.sub(r"[^0-9A-Za-z]+", "_", name)
        self.fingerprint = fingerprint
        self.nested = nested
        self.path = (NEW if shared else HOME) / place / f"{key}.json"
        stored = read(self.path)
        if shared and not stored:
            stored = chosen().get(place, {}).get(key, {})
        self.current = stored.get("fingerprint") == fingerprint
        self.contents: dict[str, Any] = dict(stored.get("sizes", {}))

    def has(self, key: object) -> bool:
        """Return whether the present code has stored this."""
        return self.current and str(key) in self.contents

    def get(self, key: object) -> dict:
        """Return what is stored, of whatever code; empty where nothing is."""
        return self.contents.get(str(key), {})

    def panel(self, n_genes: int) -> dict:
        """Return ``{"genes", "seconds"}`` or ``{"error"}`` of this size; empty where not run."""
        larger = [size for size in sorted(map(int, self.contents)) if size >= n_genes]
        found = dict(self.get(larger[0] if larger and self.nested else n_genes))
        return found | ({"genes": found["genes"][:n_genes]} if "genes" in found else {})

    def put(self, key: object, **content) -> None:
        """Store this, and forget what other code stored."""
        if not self.current:
            self.contents, self.current = {}, True
        self.contents[str(key)] = content
        write(self.path, {"fingerprint": self.fingerprint, "sizes": self.contents})


def entry_of(name: str, place: str, method) -> Entry:
    """Return the panels of a method on a dataset, or on a part of one."""
    return Entry(place, name, method.fingerprint, shared=not method.own, nested=method.nested)


@cache
def chosen() -> dict[str, dict[str, dict]]:
    """Return the compressed file: entries by place and name."""
    if not CHOSEN.exists():
        return {}
    return json.loads(gzip.decompress(CHOSEN.read_bytes()))


def merge() -> None:
    """Add what is new to the compressed file, which depends on its contents alone."""
    new = sorted(NEW.rglob("*.json"))
    if not new:
        return
    chosen.cache_clear()
    entries = chosen()
    for path in new:
        entries.setdefault(str(path.parent.relative_to(NEW)), {})[path.stem] = read(path)
    draft = CHOSEN.with_suffix(f".{os.getpid()}")
    draft.write_bytes(packed(entries))
    draft.replace(CHOSEN)
    for path in new:
        path.unlink()


def packed(entries: dict) -> bytes:
    """Return the bytes of the compressed file."""
    text = json.dumps(entries, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode(), mtime=0)


def read(path: Path) -> dict:
    """Return a file of JSON; empty where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write(path: Path, content: dict) -> None:
    """Write a file of JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(content), encoding="utf-8")
    draft.replace(path)


def digest(text: str | bytes) -> str:
    """Return a short digest."""
    text = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(text).hexdigest()[:16]
