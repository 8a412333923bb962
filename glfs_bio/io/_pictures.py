"""Pictures inside a page."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

_DPI = 130


def picture(draw: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """What one of ``glfs_bio.pl`` draws, as the address of an inline PNG."""
    from matplotlib import pyplot as plt

    drawn = draw(*args, show=False, **kwargs)
    figure = np.ravel(drawn)[0].figure
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
