"""The selection of a report with its results, and pictures of it."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from anndata import AnnData

from .. import codec
from .._anndata import columns, read
from ..errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd
    from matplotlib.figure import Figure

_DPI = 130


@dataclass(frozen=True)
class Result:
    """A further result: its key, what is under it, and why it is not of the selection, if so."""

    key: str
    entry: dict[str, Any]
    unlike: str | None = None


@dataclass(frozen=True)
class Subject:
    """Selection of a report, and how to show it."""

    adata: AnnData
    key: str
    #: The selected genes, the best first.
    frame: pd.DataFrame
    entry: dict[str, Any]
    #: Names of all genes.
    called: pd.Series
    labels: str | None
    symbols: str | None
    link: str | None
    results: Mapping[str, Result]
    #: Key of ``.obsm`` with the UMAP by the panel; None: it is computed.
    basis: str | None
    #: Whether that is computed; None: of so many cells as is fast.
    umaps: bool | None

    def result(self, what: str) -> Result | None:
        """Return a result of this selection; None if it is missing or of another one."""
        found = self.results.get(what)
        return None if found is None or found.unlike is not None else found

    def of_another(self, what: str) -> dict[str, Any] | None:
        """Return the section that says of which selection a result is; None without one."""
        found = self.results.get(what)
        if found is None or found.unlike is None:
            return None
        return {"of_another": {"key": found.key, "unlike": found.unlike}}

    def renamed(self, text: str, separator: str) -> list[str]:
        """Names of genes in a text, as they are called."""
        return [str(self.called.get(name, name)) for name in text.split(separator) if name]

    @property
    def is_grouped(self) -> bool:
        """Whether the cells have labels, and not numbers."""
        if self.labels is None:
            return False
        try:
            _, groups = columns.labels(self.adata, self.labels)
        except Refusal:
            return False
        return len(groups) > 1

    @cached_property
    def of_panel(self) -> AnnData:
        """The cells with the genes of the panel alone, in memory, and their labels."""
        layer = codec.restored(self.entry.get("params", {}).get("layer"))
        places = self.adata.var_names.get_indexer(self.frame.index)
        colours = f"{self.labels}_colors"
        return AnnData(
            read.columns(self.adata, places, layer),
            obs=self.adata.obs[[self.labels]].copy(),
            var=self.adata.var.iloc[places],
            uns={colours: self.adata.uns[colours]} if colours in self.adata.uns else {},
        )


def picture(draw: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Return a plot of ``glfs_bio.pl`` as the address of an inline PNG."""
    return image(np.ravel(draw(*args, show=False, **kwargs))[0].figure)


def image(figure: Figure) -> str:
    """A figure as the address of an inline PNG; it is closed."""
    from matplotlib import pyplot as plt

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def inches(source: str) -> float:
    """Return the width of an inline PNG, at the size of its text."""
    head = base64.b64decode(source.partition(",")[2][:32])  # the width is in bytes 16 to 20
    return int.from_bytes(head[16:20], "big") / _DPI
