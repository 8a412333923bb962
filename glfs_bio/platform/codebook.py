"""Codebooks: which bits, the images of an instrument, a transcript of each gene lights up in.

Where too many transcripts light up in one image they cannot be told apart.  The load of a bit is
the sum over the genes of a panel whose codewords have it, linear in the genes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from .._typing import Array


def bits(
    codebook: Mapping[str, str], genes: pd.Index
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the bits of each gene, shape (n_genes, n_bits), and whether it has a codeword."""
    n_bits = len(next(iter(codebook.values())))
    known = np.asarray(genes.isin(list(codebook)))
    found = np.zeros((len(genes), n_bits), dtype=bool)
    found[known] = [[bit == "1" for bit in codebook[gene]] for gene in genes[known]]
    return found, known


def loads(words: NDArray[np.bool_], counts: Array) -> Array:
    """Return the counts of each gene in each bit, shape (n_bits, n_genes)."""
    return np.asarray(words.T * counts)
