"""What a method says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._ranking import Ranking


@dataclass(frozen=True)
class Method:
    """A way to rank genes, as its file describes it.

    Attributes
    ----------
    title
        What it is, in a few words.
    reference
        Who published it.
    rank
        ``rank(problems, n_genes, *, include, options)``: one reduced problem per batch, all over
        the same genes; how many genes; indices of those that come first;
        :class:`~glfs_bio.selection.Options`.
    """

    title: str
    reference: str
    rank: Callable[..., Ranking]
