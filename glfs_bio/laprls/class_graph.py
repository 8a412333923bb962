"""The graph that the labels make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    import numpy.typing as npt


def class_graph(labels: npt.NDArray[Any]) -> sparse.csr_array:
    """``S_ij = 1`` for two samples of one class, 0 for all others and on the diagonal.

    Parameters
    ----------
    labels
        Class of every sample, shape (n_samples,).
    """
    classes, code = np.unique(labels, return_inverse=True)
    n_samples = len(labels)
    member = sparse.csr_array(
        (np.ones(n_samples), (np.arange(n_samples), code)), shape=(n_samples, len(classes))
    )
    same = sparse.csr_array(member @ member.T)
    same.setdiag(0.0)
    same.eliminate_zeros()
    return same
