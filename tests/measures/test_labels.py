"""Labels predicted by nearest cells, against scikit-learn and by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from glfs_bio.measures import labels as readers
from glfs_bio.measures.cells import coordinates, nearest
from glfs_bio.measures.labels import _majority, label_scores, scores_by


@pytest.fixture
def blood(pbmc):
    """Coordinates in twenty genes, codes and names of the cell types."""
    panel = np.argsort(-pbmc.X.toarray().var(axis=0))[:20]
    codes, names = pd.factorize(pbmc.obs["bulk_labels"].astype(str), sort=True)
    return coordinates(pbmc.X[:, panel]), codes, list(names)


def test_against_scikit_learn(blood):
    where, codes, names = blood
    scores = label_scores(where, codes, names)
    predicted, table = scores.predicted, scores.per_label
    f1 = metrics.f1_score(codes, predicted, average=None)
    rare = np.bincount(codes) <= 0.05 * 700
    assert scores.accuracy == metrics.accuracy_score(codes, predicted)
    assert scores.macro_f1 == pytest.approx(f1.mean())
    assert scores.rare_f1 == pytest.approx(f1[rare].mean())
    np.testing.assert_array_equal(scores.confusion, metrics.confusion_matrix(codes, predicted))
    assert list(table.index) == names
    np.testing.assert_array_equal(table["n_cells"], np.bincount(codes))
    np.testing.assert_allclose(table["f1"], f1)
    np.testing.assert_array_equal(table["rare"], rare)


def test_votes_are_those_of_the_benchmarks(blood):
    """Where no two labels have equally many votes; neighbors at hand are used."""
    where, codes, names = blood
    near = nearest(where, 15)
    predicted = label_scores(where, codes, names).predicted
    given = label_scores(where, codes, names, neighbors=near).predicted
    np.testing.assert_array_equal(given, predicted)
    votes = np.array([(codes[near] == code).sum(axis=1) for code in range(len(names))])
    clear = np.sum(votes == votes.max(axis=0), axis=0) == 1
    assert clear.mean() > 0.8
    np.testing.assert_array_equal(predicted[clear], votes.argmax(axis=0)[clear])


def test_equally_many_votes_go_to_the_nearest():
    around = np.array([[1, 0], [0, 1], [0, 0], [2, 1], [1, 1]])
    np.testing.assert_array_equal(_majority(around), around[:, 0])


def test_cells_without_labels_are_left_out(blood):
    """They neither count nor vote, by any reading."""
    where, codes, names = blood
    some = codes.copy()
    some[::3] = -1
    labelled = some >= 0
    scores = scores_by(["knn", "laprls"], where, where, some, names)
    for reading in scores.values():
        np.testing.assert_array_equal(reading.predicted >= 0, labelled)
        assert reading.confusion.to_numpy().sum() == labelled.sum()
    alone = label_scores(where[labelled], codes[labelled], names)
    np.testing.assert_array_equal(scores["knn"].predicted[labelled], alone.predicted)
    pd.testing.assert_frame_equal(scores["knn"].per_label, alone.per_label)
    table = readers.table(scores, "labels").set_index("reading")
    np.testing.assert_array_equal(table.loc["knn", "recall"], alone.per_label["recall"])
    laprls = scores["laprls"].per_label
    np.testing.assert_array_equal(table.loc["laprls", "recall"], laprls["recall"])


def test_confused_labels_are_named():
    """Two labels in one place, one elsewhere."""
    rng = np.random.default_rng(0)
    where = np.r_[rng.normal(size=(90, 2)), rng.normal(size=(30, 2)) + 50.0]
    codes = np.r_[np.zeros(80, int), np.ones(10, int), np.full(30, 3)]
    scores = label_scores(where, codes, ["common", "hidden", "without cells", "apart"])
    table = scores.per_label
    assert list(table.index) == ["common", "hidden", "apart"]
    assert table.loc["hidden", "confused_with"] == "common"
    assert table.loc["hidden", "recall"] + table.loc["hidden", "confused_share"] == 1.0
    assert scores.confusion.loc["apart", "apart"] == 30
    assert table.loc["apart", "confused_with"] == ""
    assert table.loc["apart", "confused_share"] == 0.0
    assert not table["rare"].any()
    assert np.isnan(scores.rare_f1)


def apart(sizes):
    """Cells of labels far from each other, and names of the labels."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    noise = np.random.default_rng(0).normal(size=(len(codes), len(sizes)))
    return 100.0 * np.eye(len(sizes))[codes] + noise, codes, [f"l{k}" for k in range(len(sizes))]


def test_labels_of_few_cells_take_part():
    """However far they are from the others: nine cells can be recalled, eight cannot."""
    for n_cells in (1, 2, 8, 9):
        row = label_scores(*apart([80, n_cells])).per_label.loc["l1"]
        assert row["n_cells"] == n_cells
        assert row["recall"] == (n_cells == 9)
        assert row["too_few"] == (n_cells < 9)


@pytest.mark.parametrize(
    ("used", "sizes"),
    [
        *[(5, [6, 6]), (2, [3] * 4), (4, [5, 5, 1]), (5, [12, 6]), (1, [2] * 20), (0, [1] * 12)],
        *[(15, [9, 9]), (15, [300, 8, 5, 2, 1])],
    ],
    ids=str,
)
def test_small_groups_have_fewer_neighbors(sizes, used):
    """Where they are many; a rare label does not change what the others are predicted from."""
    where, codes, names = apart(sizes)
    assert readers.n_neighbors_of(codes) == used
    assert readers.n_neighbors_of(np.append(codes, -1)) == used
    scores = label_scores(where, codes, names)
    usual = ~scores.per_label["too_few"]
    if used:
        assert (scores.per_label.loc[usual, "recall"] == 1).all()
        assert scores.accuracy >= 0.9
    else:
        assert np.isnan([scores.accuracy, scores.macro_f1, scores.rare_f1]).all()
    near = label_scores(where, codes, scores.per_label.index, neighbors=nearest(where))
    np.testing.assert_array_equal(near.predicted, scores.predicted)


def read(values, codes, names):
    """LapRLS of values, with the graph of their nearest cells."""
    return scores_by(["laprls"], values, readers.standardised(values), codes, names)["laprls"]


def test_a_rare_label_that_one_gene_tells_apart():
    """Nearest cells lose it among the variance of other genes; a classifier does not."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], [480, 20])
    values = rng.normal(5.0, 1.0, (500, 30))
    values[:, 0] = codes + rng.uniform(0.0, 0.2, 500)
    where = coordinates(values)
    assert label_scores(where, codes, ["usual", "rare"]).per_label.loc["rare", "recall"] < 0.2
    assert read(values, codes, ["usual", "rare"]).per_label.loc["rare", "recall"] > 0.6


def test_no_cell_is_read_by_its_own_label():
    """Labels without any relation to the cells are not predicted."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, 5))
    codes = rng.integers(0, 2, 300)
    assert read(values, codes, ["a", "b"]).accuracy < 0.6
    twins = np.repeat(values[:100], 2, axis=0)  # the other of a pair tells
    codes = np.repeat(rng.integers(0, 2, 100), 2)
    assert read(twins, codes, ["a", "b"]).accuracy > 0.6
    assert np.isfinite(read(np.ones((200, 2)), codes, ["a", "b"]).accuracy)  # which say nothing


def test_laprls_reads_some_of_many_cells(blood, monkeypatch):
    where, codes, names = blood
    codes = np.where(np.arange(700) == 5, len(names), codes)
    codes[::10], names = -1, [*names, "rare"]
    every = scores_by(["laprls"], where, where, codes, names)["laprls"]
    assert " of " not in readers.describe_reading("laprls", codes)
    monkeypatch.setattr(readers, "READ", 400)
    cells = readers.cells_read(codes)
    assert 350 < len(cells) <= 400
    assert (codes[cells] >= 0).all()
    assert set(codes[cells]) == set(codes[codes >= 0])
    some = scores_by(["laprls"], where, where[cells], codes, names)["laprls"]
    np.testing.assert_array_equal(np.flatnonzero(some.predicted >= 0), cells)
    assert some.accuracy == pytest.approx(every.accuracy, abs=0.05)
    assert list(some.per_label.index) == list(every.per_label.index)
    assert f"of {len(cells)} cells" in readers.describe_reading("laprls", codes)
    assert " of " not in readers.describe_reading("knn", codes)


def test_laprls_of_few_cells():
    """Labels of two cells or more can be predicted; of one cell none is learnt."""
    for sizes in ([6, 6], [3, 3, 3, 3], [2] * 20, [60, 4, 1], [700, 2]):
        values, codes, names = apart(sizes)
        scores = scores_by(["laprls"], values, values, codes, names)["laprls"]
        several = np.array(sizes) > 1
        np.testing.assert_array_equal(scores.per_label["recall"], several)
        few = np.array(sizes) < readers.n_folds_of(codes)
        np.testing.assert_array_equal(scores.per_label["too_few"], few)


def test_silhouette_is_as_it_is_defined(monkeypatch):
    """There is none where labels are all alike or all different."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2, -1], [20, 30, 1, 9])
    where = rng.normal(size=(60, 4)) + codes[:, None]
    labelled = np.flatnonzero(codes >= 0)
    each = []
    for cell in labelled:
        far = cdist(where[[cell]], where)[0]
        alike = (codes == codes[cell]) & (np.arange(60) != cell)
        inner = far[alike].mean() if alike.any() else 0.0
        outer = min(far[codes == code].mean() for code in {0, 1, 2} - {codes[cell]})
        each.append((outer - inner) / max(inner, outer) if alike.any() else 0.0)
    assert readers.silhouette(where, codes) == pytest.approx(np.mean(each))
    monkeypatch.setattr(readers, "IN_SILHOUETTE", 26)
    some, every = labelled[::2], readers.silhouette(where, codes)
    assert readers.silhouette(where[some], codes[some]) == pytest.approx(every)
    for alike in ([0, 0, 0, -1], [0, 1, 2, -1]):
        assert np.isnan(readers.silhouette(np.eye(4), np.array(alike)))


def test_laprls_is_as_accurate_as_logistic_regression(pbmc, blood):
    _, codes, names = blood
    panel = np.argsort(-pbmc.X.toarray().var(axis=0))[:40]
    values = pbmc.X.toarray()[:, panel].astype(float)
    scores = read(values, codes, names)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of labels with fewer cells than folds
        model = LogisticRegression(max_iter=300)
        predicted = cross_val_predict(model, readers.standardised(values), codes, cv=folds)
    assert scores.accuracy > metrics.accuracy_score(codes, predicted) - 0.02
    assert scores.macro_f1 > metrics.f1_score(codes, predicted, average="macro") - 0.05
