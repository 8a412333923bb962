"""Labels that a panel tells apart, and those that it mixes up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from .measures import SETTINGS, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index

#: A rare label has at most this share of the labelled cells.
RARE = 0.05


@dataclass(frozen=True)
class LabelScores:
    """How well nearest cells of a panel predict the labels.

    Attributes
    ----------
    predicted
        Code of the label predicted for every cell; −1 where the cell has no label.
    accuracy
        Share of the labelled cells whose label is predicted.
    macro_f1
        Mean F1, every label counting alike.
    rare_f1
        Mean F1 of the rare labels; NaN where there are none.
    per_label
        A row a label: ``n_cells``, ``recall``, ``precision``, ``f1``, ``confused_with``: the other
        label that is predicted for most of its cells (missing where there is none),
        ``confused_share``: the share of its cells that this is, ``rare``, and ``too_few``: whether
        nearest cells of its own could never be a majority, as it has so few cells.  Recall of such
        a label says little of the panel; that of a label of one cell is always 0.
    confusion
        Numbers of cells: rows are labels, columns what is predicted.
    """

    predicted: Index
    accuracy: float
    macro_f1: float
    rare_f1: float
    per_label: pd.DataFrame
    confusion: pd.DataFrame


def label_scores(
    where: Array,
    codes: Index,
    names: Sequence[str],
    *,
    n_neighbors: int = SETTINGS.n_neighbors,
    near: Index | None = None,
) -> LabelScores:
    """Predict the label of every cell from its nearest labelled cells, itself left out.

    Parameters
    ----------
    where
        Coordinates of the cells, shape (n_cells, r).
    codes
        Index of each cell's label among `names`; −1: no label, the cell is left out.
    names
        Labels; those without cells are left out.
    n_neighbors
        How many nearest cells vote.  Of labels with equally many votes that of the nearer cell
        wins.
    near
        :func:`~glfs_bio.measures.measures.nearest` of `where`, if it is at hand.  It is used where
        all cells have labels.

    Raises
    ------
    ValueError
        As many codes as cells are needed, and two cells with labels.
    """
    labelled = np.flatnonzero(codes >= 0)
    if len(codes) != len(where) or len(labelled) < 2:
        msg = (
            f"There are {len(codes)} labels for {len(where)} cells, {len(labelled)} of them not "
            "missing: one for each cell is needed, and at least two."
        )
        raise ValueError(msg)
    if near is None or len(labelled) < len(codes):
        near = nearest(where[labelled], n_neighbors)
    own = codes[labelled]
    votes = _majority(own[near])
    predicted = np.full(len(codes), -1, dtype=np.intp)
    predicted[labelled] = votes
    present = np.unique(own)
    per_label, confusion = _tables(own, votes, present, [names[code] for code in present])
    per_label["too_few"] = per_label["n_cells"] - 1 <= near.shape[1] // 2
    rare = per_label.loc[per_label["rare"], "f1"]
    return LabelScores(
        predicted=predicted,
        accuracy=float(np.mean(votes == own)),
        macro_f1=float(per_label["f1"].mean()),
        rare_f1=float(rare.mean()) if len(rare) else float("nan"),
        per_label=per_label,
        confusion=confusion,
    )


def _majority(around: Index) -> Index:
    """The label of most nearest cells; of several, that of the nearest cell."""
    votes = np.zeros(around.shape, dtype=np.intp)
    for place in range(around.shape[1]):
        votes += around == around[:, place, None]
    winner = votes.argmax(axis=1)
    return np.asarray(np.take_along_axis(around, winner[:, None], axis=1)[:, 0])


def _tables(
    own: Index, votes: Index, present: Index, names: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    counts = confusion_matrix(own, votes, labels=present)
    precision, recall, f1, n_cells = precision_recall_fscore_support(
        own, votes, labels=present, zero_division=0.0
    )
    missed = counts - np.diag(np.diag(counts))
    most = missed.argmax(axis=1)
    n_most = missed.max(axis=1)
    per_label = pd.DataFrame(
        {
            "n_cells": n_cells,
            "recall": recall,
            "precision": precision,
            "f1": f1,
            "confused_with": np.where(n_most > 0, np.array(names, dtype=object)[most], None),
            "confused_share": n_most / n_cells,
            "rare": n_cells <= RARE * len(own),
        },
        index=pd.Index(names, name="label"),
    )
    confusion = pd.DataFrame(
        counts, index=per_label.index, columns=pd.Index(names, name="predicted")
    )
    return per_label, confusion
