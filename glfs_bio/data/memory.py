"""Whether a problem fits into the memory of this machine."""

from __future__ import annotations

import os

from ..errors import InvalidValue

#: Copies, at the least, of genes × rank and of cells × rank that full rank takes.
_OF_GENES = 4
_OF_CELLS = 8


def full_rank_fits(n_cells: int, n_genes: int) -> None:
    """Refuse the problem at full rank where it would need more memory than there is."""
    there_is = _installed()
    rank = min(n_cells, n_genes)
    needed = 8 * rank * (_OF_GENES * n_genes + _OF_CELLS * n_cells)
    if there_is is not None and needed > there_is:
        raise InvalidValue(
            "n_comps",
            None,
            f"needs about {needed / 1e9:.0f} GB for {n_cells} cells × {n_genes} genes, but "
            f"{there_is / 1e9:.0f} GB are available",
            "give it a number, such as 50",
        )


def _installed() -> int | None:
    """Bytes of memory, None where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
