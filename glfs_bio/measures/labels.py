"""Labels that a panel distinguishes and mixes up.

Labels are read in two ways.  Nearest cells (kNN) say whether cells of a label lie together, every
gene counting by its variance: rare labels that a few genes tell apart are lost among many others.
LapRLS learns which genes tell labels apart, as those who will annotate the data do: it is the
kernel form (Belkin, Niyogi and Sindhwani 2006) with landmarks (Williams and Seeger 2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support, silhouette_score

from .. import laprls
from ..cells.graph import joined, laplacian
from ..data import threads as pools
from ..data.matrix import divided
from .cells import N_NEIGHBORS, dense, evenly, nearest, nearest_of_others

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .._typing import Array, Index, Matrix

#: Labels that are too small for the neighbourhood may have this share of the cells, as accuracy is
#: still that of the panel.
_TOO_SMALL = 0.1
#: A rare label has at most this share of the labelled cells.
RARE = 0.05
#: LapRLS is as accurate as a logistic regression with these, at a fifth of its time; with a kernel
#: that is linear it is not ("How labels are read" in ``benchmarks/ARCHIVE.md``).  Folds; landmarks;
#: width of the kernel exp(−width ‖x − z‖² / total variance); both penalties; and the power of the
#: size of a label that its cells are weighed by: −1 gives up large labels for small ones.
N_FOLDS, _LANDMARKS, _WIDTH, _LAMBDA, _POWER = 5, 500, 0.1, 0.01, -0.5
#: Of more cells LapRLS reads so many with labels, evenly over their order, and a few of each.
READ = 100_000
#: Of more cells with labels so many have a silhouette, evenly over their order: its time grows with
#: their square.
IN_SILHOUETTE = 1_000


@dataclass(frozen=True)
class LabelScores:
    """How well a reading of a panel predicts the labels."""

    #: Code of the label predicted for every cell; −1 where the cell has no label, or is not read
    predicted: Index
    #: Share of the labelled cells whose label is predicted
    accuracy: float
    #: Mean F1, every label counting alike
    macro_f1: float
    #: Mean F1 of the rare labels; NaN where there are none
    rare_f1: float
    #: A row a label: ``n_cells``, ``recall``, ``precision``, ``f1``, ``confused_with``: the other
    #: label that is predicted for most of its cells (``""`` where there is none),
    #: ``confused_share``: the share of its cells that this is, ``rare``, and ``too_few``: whether
    #: it has fewer cells than :func:`fewest`.  Recall of such a label says little of the panel.
    per_label: pd.DataFrame
    #: Numbers of cells: rows are labels, columns what is predicted
    confusion: pd.DataFrame
    #: How labels were read, and of how many cells, in words
    reading: str


def n_neighbors_of(codes: Index) -> int:
    """Return how many nearest cells predict labels: :data:`~.cells.N_NEIGHBORS`, or fewer where
    many cells have labels too small for a majority among so many.
    Then as many as the smallest label has, the smallest with a tenth of the cells aside.
    """
    sizes = np.sort(np.bincount(codes[codes >= 0]))
    counting = sizes[np.cumsum(sizes) > _TOO_SMALL * sizes.sum()]
    if not len(counting) or counting[0] - 1 > N_NEIGHBORS // 2:
        return min(N_NEIGHBORS, max(int(sizes.sum()) - 1, 0))
    several = counting[counting > 1]
    return int(several[0] - 1) if len(several) else 0


def n_folds_of(codes: Index) -> int:
    """Number of folds: :data:`N_FOLDS`, or as many as the largest label has cells; 0 for one."""
    largest = int(np.bincount(codes[codes >= 0]).max(initial=0))
    return min(N_FOLDS, largest) if largest > 1 else 0


def cells_read(codes: Index) -> Index:
    """Return the cells that LapRLS reads: all, or of many at most :data:`READ` that have labels,
    and of each label enough for all folds.
    """
    if len(codes) <= READ:
        return np.arange(len(codes))
    labelled = np.flatnonzero(codes >= 0)
    of_labels = [np.flatnonzero(codes == code) for code in np.unique(codes[labelled])]
    few = [members[evenly(len(members), N_FOLDS)] for members in of_labels]
    most = max(READ - N_FOLDS * len(few), 1)  # those that are read are all read, read again
    return np.unique(np.concatenate([labelled[evenly(len(labelled), most)], *few]))


def fewest(reading: str, codes: Index) -> int:
    """Return the fewest cells of a label that can be a majority, or be in each fold."""
    return n_neighbors_of(codes) // 2 + 2 if reading == "knn" else max(n_folds_of(codes), 2)


def describe_reading(reading: str, codes: Index, fold: Index | None = None) -> str:
    """Return what a reading is called, a comma, and how it is validated."""
    validated = None if fold is None else f"{len(np.unique(fold))} folds of blocks of tissue"
    if reading == "knn":
        return f"{n_neighbors_of(codes)}-NN, {validated or 'leave-one-out'}"
    validated = validated or f"{n_folds_of(codes)}-fold cross-validation"
    sample = f" of {len(cells_read(codes)):,} cells" if len(codes) > READ else ""
    return f"LapRLS, {validated}{sample}"


def table(scores: Mapping[str, LabelScores], kind: str) -> pd.DataFrame:
    """Return the scores of each label by each reading; `kind` says what the labels are."""
    tables = {(kind, reading): of_reading.per_label for reading, of_reading in scores.items()}
    return pd.concat(tables, names=["kind", "reading"]).reset_index()


def confusions(scores: Mapping[str, LabelScores]) -> pd.DataFrame:
    """Return the number of cells of each label with each prediction, by reading."""
    long: dict[str, Any] = {"ignore_index": False, "value_name": "n_cells"}
    tables = {reading: scores[reading].confusion.melt(**long) for reading in scores}
    return pd.concat(tables, names=["reading"]).reset_index()


def scores_by(
    readings: Sequence[str],
    where: Array,
    values: Array | None,
    codes: Index,
    names: Sequence[str],
    *,
    neighbors: Index | None = None,
    fold: Index | None = None,
    random_state: int | None = 0,
) -> dict[str, LabelScores]:
    """Return the scores of some readings: nearest cells in `where`, LapRLS of `values`.

    `values` are of the :func:`cells_read`.  `fold`, shape (n_cells,), are blocks of tissue, from
    others of which cells are predicted; None: as each reading has it.
    """
    if neighbors is None:
        neighbors = nearest(where, random_state=random_state)
    scores = {}
    if "knn" in readings:
        scores["knn"] = label_scores(where, codes, names, neighbors=neighbors, fold=fold)
    if "laprls" in readings and values is not None:
        cells, predicted = cells_read(codes), np.full(len(codes), -1, dtype=np.intp)
        if len(cells) < len(codes):
            neighbors = nearest(where[cells], random_state=random_state)
        fold_of_cells = None if fold is None else fold[cells]
        predicted[cells] = by_laprls(values, codes[cells], neighbors, fold_of_cells, random_state)
        scores["laprls"] = _scores("laprls", codes, predicted, names, fold)
    return scores


def label_scores(
    where: Array,
    codes: Index,
    names: Sequence[str],
    *,
    neighbors: Index | None = None,
    fold: Index | None = None,
) -> LabelScores:
    """Predict the label of every cell from its nearest labelled cells, itself or its fold left out.

    Of labels with equally many votes that of the nearer cell wins.  `neighbors`, from
    :func:`~glfs_bio.measures.cells.nearest`, is used where all cells have labels.
    """
    labelled, predicted = np.flatnonzero(codes >= 0), np.full(len(codes), -1, dtype=np.intp)
    used = max(n_neighbors_of(codes), 1)
    if fold is not None:
        neighbors = nearest_of_others(where[labelled], fold[labelled], used)
    elif neighbors is None or len(labelled) < len(codes):
        neighbors = nearest(where[labelled], used)
    predicted[labelled] = _majority(codes[labelled][neighbors[:, :used]])
    return _scores("knn", codes, predicted, names, fold)


@pools.one_thread_of_blas()
def by_laprls(
    values: Array, codes: Index, neighbors: Index, fold: Index | None, random_state: int | None
) -> Index:
    """Predict the label of every labelled cell by LapRLS of the cells in other folds, else −1.

    Cells whose label is held out, or missing, are in the graph alone.  Folds, if none are given,
    are stratified, and the largest value of one label against the rest predicts.
    """
    draw = np.random.default_rng(random_state)
    if fold is None:
        order = draw.permutation(len(codes))
        order = order[np.argsort(codes[order], kind="stable")]
        fold = np.empty(len(codes), dtype=np.intp)
        fold[order] = np.arange(len(codes)) % max(n_folds_of(codes), 2)
    is_labelled, weights = codes >= 0, np.zeros(len(codes))
    labels = codes[is_labelled]
    weights[is_labelled] = (np.bincount(labels)[labels] / len(labels)) ** _POWER
    features, present = _features(values, fold, draw), np.unique(labels)
    targets = np.asarray(codes[:, None] == present, dtype=float)
    smoother = laplacian(joined(neighbors)).astype(features.dtype)
    weights /= weights[is_labelled].mean()
    of_labels = laprls.held_out(
        features, targets, smoother, fold, lambda1=_LAMBDA, lambda2=_LAMBDA, sample_weight=weights
    )
    return np.where(is_labelled, present[of_labels.argmax(axis=1)], -1)


@pools.one_thread_of_blas()
def silhouette(where: Array, codes: Index) -> float:
    """Return the mean silhouette of labelled cells, NaN where labels are all the same or differ."""
    labelled = np.flatnonzero(codes >= 0)
    cells = labelled[evenly(len(labelled), IN_SILHOUETTE)]
    if not 1 < len(np.unique(codes[cells])) < len(cells):
        return float("nan")
    return float(silhouette_score(where[cells], codes[cells]))


def standardised(panel: Matrix) -> Array:
    """Values of genes of variance 1, and 0 for a gene that is the same in all cells."""
    values = dense(panel)
    return divided(values - values.mean(axis=0), values.std(axis=0))


def _features(values: Array, fold: Index, draw: np.random.Generator) -> Array:
    """Centred coordinates of the cells in the space of the kernel, by landmarks among them."""
    variance = float(values.var(axis=0).sum())
    gamma, n_landmarks = _WIDTH / variance if variance > 0 else 1.0, min(_LANDMARKS, len(values))
    seed = int(draw.integers(2**31))
    model = Nystroem(gamma=gamma, n_components=n_landmarks, random_state=seed).fit(values)
    features = np.empty((len(values), model.n_components), dtype=np.float32)
    for k in np.unique(fold):  # a part at a time: the kernel has double precision
        features[fold == k] = model.transform(values[fold == k])
    return np.asarray(features - features.mean(axis=0), dtype=features.dtype)


def _scores(
    reading: str, codes: Index, predicted: Index, names: Sequence[str], fold: Index | None
) -> LabelScores:
    """Return the scores of what is predicted for the labelled cells; NaN where nothing can be."""
    labels, votes = codes[predicted >= 0], predicted[predicted >= 0]
    present = np.unique(labels)
    label_names = np.array([names[code] for code in present], dtype=object)
    counts = confusion_matrix(labels, votes, labels=present)
    scores = precision_recall_fscore_support(labels, votes, labels=present, zero_division=0.0)
    columns = dict(zip(("precision", "recall", "f1", "n_cells"), scores, strict=True))
    table = pd.DataFrame(columns, pd.Index(label_names, name="label"))
    missed = counts - np.diag(np.diag(counts))
    n_most = missed.max(axis=1)
    per_label = table[["n_cells", "recall", "precision", "f1"]].assign(
        confused_with=np.where(n_most > 0, label_names[missed.argmax(axis=1)], ""),
        confused_share=n_most / table["n_cells"],
        rare=table["n_cells"] <= RARE * len(labels),
        too_few=table["n_cells"] < fewest(reading, codes),
    )
    possible = n_neighbors_of(codes) if reading == "knn" else n_folds_of(codes)
    can_be = 1.0 if possible else np.nan  # predicted
    return LabelScores(
        predicted=predicted,
        accuracy=float(np.mean(votes == labels)) * can_be,
        macro_f1=float(per_label["f1"].mean()) * can_be,
        rare_f1=float(per_label["f1"][per_label["rare"]].mean()) * can_be,
        per_label=per_label,
        confusion=pd.DataFrame(counts, per_label.index, per_label.index.rename("predicted")),
        reading=f"{describe_reading(reading, codes, fold)}; {np.sum(codes >= 0):,} cells",
    )


def _majority(around: Index) -> Index:
    """The label of most nearest cells; of several, that of the nearest cell."""
    votes = np.zeros(around.shape, dtype=np.intp)
    for column in range(around.shape[1]):
        votes += around == around[:, column, None]
    winner = votes.argmax(axis=1)
    return np.asarray(np.take_along_axis(around, winner[:, None], axis=1)[:, 0])
