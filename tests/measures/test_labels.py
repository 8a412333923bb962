"""Labels predicted by nearest cells, against scikit-learn and by hand."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    fbeta_score,
    precision_recall_curve,
)
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from glfs_bio.errors import InvalidValue
from glfs_bio.measures import labels as readers
from glfs_bio.measures.cells import coordinates, nearest
from glfs_bio.measures.labels import (
    cells_read,
    combination,
    kept,
    label_scores,
    laprls_scores,
    n_folds_of,
    n_neighbors_of,
    said,
    scores_by,
    silhouette,
    singles,
    standardised,
)


@pytest.fixture
def blood(pbmc):
    """Coordinates in twenty genes, codes and names of the cell types."""
    panel = np.argsort(-pbmc.X.toarray().var(axis=0))[:20]
    codes, names = pd.factorize(pbmc.obs["bulk_labels"].astype(str), sort=True)
    return coordinates(pbmc.X[:, panel]), codes, list(names)


def test_against_scikit_learn(blood):
    where, codes, names = blood
    scores = label_scores(where, codes, names)
    assert scores.accuracy == accuracy_score(codes, scores.predicted)
    assert scores.macro_f1 == pytest.approx(f1_score(codes, scores.predicted, average="macro"))
    np.testing.assert_array_equal(scores.confusion, confusion_matrix(codes, scores.predicted))
    table = scores.per_label
    assert list(table.index) == names
    np.testing.assert_array_equal(table["n_cells"], np.bincount(codes))
    np.testing.assert_allclose(table["f1"], f1_score(codes, scores.predicted, average=None))
    rare = np.bincount(codes) <= 0.05 * 700
    np.testing.assert_array_equal(table["rare"], rare)
    assert scores.rare_f1 == pytest.approx(table["f1"][rare].mean())


def test_neighbors_at_hand_are_used(blood):
    where, codes, names = blood
    scores = label_scores(where, codes, names, near=nearest(where))
    np.testing.assert_array_equal(scores.predicted, label_scores(where, codes, names).predicted)
    few = label_scores(where, codes, names, near=nearest(where, 3))
    np.testing.assert_array_equal(
        few.predicted, label_scores(where, codes, names, n_neighbors=3).predicted
    )


def test_votes_are_those_of_the_benchmarks(blood):
    """Where no two labels have equally many votes."""
    where, codes, names = blood
    around = codes[nearest(where)]
    votes = np.stack([(around == code).sum(axis=1) for code in range(len(names))], axis=1)
    clear = np.sum(votes == votes.max(axis=1, keepdims=True), axis=1) == 1
    assert clear.mean() > 0.9
    predicted = label_scores(where, codes, names).predicted
    np.testing.assert_array_equal(predicted[clear], votes.argmax(axis=1)[clear])


def test_equally_many_votes_go_to_the_nearest():
    where = np.array([0.0, 1.0, -2.0, 4.0, -8.0])[:, None]
    codes = np.array([0, 1, 0, 0, 1])
    assert label_scores(where, codes, ["a", "b"], n_neighbors=2).predicted[0] == 1
    assert label_scores(where, 1 - codes, ["a", "b"], n_neighbors=2).predicted[0] == 0


def test_cells_without_labels_are_left_out(blood):
    """They neither count nor vote."""
    where, codes, names = blood
    some = codes.copy()
    some[::3] = -1
    scores = label_scores(where, some, names, near=nearest(where))
    labelled = some >= 0
    alone = label_scores(where[labelled], codes[labelled], names)
    np.testing.assert_array_equal(scores.predicted[labelled], alone.predicted)
    assert (scores.predicted[~labelled] == -1).all()
    pd.testing.assert_frame_equal(scores.per_label, alone.per_label)
    assert scores.confusion.to_numpy().sum() == labelled.sum()


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


@pytest.mark.parametrize("n_cells", [1, 2, 8, 9])
def test_labels_of_few_cells_take_part(n_cells):
    """However far they are from the others: nine cells can be recalled, eight cannot."""
    rng = np.random.default_rng(0)
    where = np.r_[rng.normal(size=(80, 2)), rng.normal(size=(n_cells, 2)) + 50.0]
    codes = np.r_[np.zeros(80, int), np.ones(n_cells, int)]
    row = label_scores(where, codes, ["many", "few"]).per_label.loc["few"]
    assert row["n_cells"] == n_cells
    assert row["recall"] == (n_cells == 9)
    assert row["too_few"] == (n_cells < 9)


@pytest.mark.parametrize(
    ("sizes", "used"),
    [
        ([6, 6], 5),
        ([3, 3, 3, 3], 2),
        ([5, 5, 1], 4),
        ([12, 6], 5),
        ([2] * 20, 1),
        ([9, 9], 15),
        ([30, 30, 3], 15),
        ([300, 8, 5, 2, 1], 15),
        ([1] * 12, 0),
    ],
)
def test_small_groups_have_fewer_neighbors(sizes, used):
    """Where they are many; a rare label does not change what the others are predicted from."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(0)
    where = 100.0 * np.eye(len(sizes))[codes] + rng.normal(size=(len(codes), len(sizes)))
    assert n_neighbors_of(codes) == used
    assert n_neighbors_of(np.append(codes, -1)) == used
    scores = label_scores(where, codes, [f"l{k}" for k in range(len(sizes))])
    if not used:
        assert np.isnan([scores.accuracy, scores.macro_f1, scores.rare_f1]).all()
    else:
        usual = ~scores.per_label["too_few"]
        assert (scores.per_label.loc[usual, "recall"] == 1).all()
        assert scores.accuracy >= 0.9
    near = label_scores(where, codes, scores.per_label.index, near=nearest(where))
    np.testing.assert_array_equal(near.predicted, scores.predicted)


def test_labels_that_cannot_be_used(blood):
    where, codes, names = blood
    with refused(InvalidValue, "codes"):
        label_scores(where, codes[1:], names)
    with refused(InvalidValue, "codes"):
        label_scores(where, np.full(700, -1), names)


def read(values, codes, names, **options):
    """LapRLS of values, with the graph of their nearest cells."""
    return laprls_scores(standardised(values), codes, names, nearest(values), **options)


def test_laprls_is_as_accurate_as_logistic_regression(pbmc):
    panel = np.argsort(-pbmc.X.toarray().var(axis=0))[:40]
    values = pbmc.X.toarray()[:, panel].astype(float)
    codes, names = pd.factorize(pbmc.obs["bulk_labels"].astype(str), sort=True)
    scores = read(values, codes, list(names))
    model = LogisticRegression(max_iter=300)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of labels with fewer cells than folds
        predicted = cross_val_predict(model, standardised(values), codes, cv=folds)
    assert scores.accuracy > accuracy_score(codes, predicted) - 0.02
    assert scores.macro_f1 > f1_score(codes, predicted, average="macro") - 0.05


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
    near = nearest(values)
    twins = np.repeat(values[:100], 2, axis=0)  # the other of a pair tells
    codes = np.repeat(rng.integers(0, 2, 100), 2)
    assert len(near) == 300
    assert read(twins, codes, ["a", "b"]).accuracy > 0.6


def test_readings_of_cells_without_labels(blood):
    where, codes, names = blood
    some = codes.copy()
    some[::3] = -1
    scores = scores_by(["knn", "laprls"], where, where, some, names)
    for one in scores.values():
        assert (one.predicted[some < 0] == -1).all()
        assert (one.predicted[some >= 0] >= 0).all()
        assert one.confusion.to_numpy().sum() == (some >= 0).sum()
    table = kept(scores)["per_label"]
    assert not table.columns.duplicated().any()
    np.testing.assert_array_equal(table["recall"], scores["knn"].per_label["recall"])
    np.testing.assert_array_equal(table["recall_laprls"], scores["laprls"].per_label["recall"])


def test_laprls_reads_some_of_many_cells(blood, monkeypatch):
    where, codes, names = blood
    codes = np.where(np.arange(700) == 5, len(names), codes)
    codes[::10], names = -1, [*names, "rare"]
    every = scores_by(["laprls"], where, where, codes, names)["laprls"]
    assert " of " not in said(["laprls"], codes)["laprls"]
    monkeypatch.setattr(readers, "READ", 400)
    cells = cells_read(codes)
    assert 350 < len(cells) <= 400
    assert (codes[cells] >= 0).all()
    assert set(codes[cells]) == set(codes[codes >= 0])
    some = scores_by(["laprls"], where, where[cells], codes, names)["laprls"]
    np.testing.assert_array_equal(np.flatnonzero(some.predicted >= 0), cells)
    assert some.accuracy == pytest.approx(every.accuracy, abs=0.05)
    assert list(some.per_label.index) == list(every.per_label.index)
    assert f"of {len(cells)} cells" in said(["knn", "laprls"], codes)["laprls"]
    assert " of " not in said(["knn", "laprls"], codes)["knn"]


@pytest.mark.parametrize("sizes", [[6, 6], [3, 3, 3, 3], [2] * 20, [60, 4, 1], [700, 2]])
def test_laprls_of_few_cells(sizes):
    """Labels of two cells or more can be predicted; of one cell none is learnt."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(0)
    values = 100.0 * np.eye(len(sizes))[codes] + rng.normal(size=(len(codes), len(sizes)))
    scores = laprls_scores(values, codes, [f"l{k}" for k in range(len(sizes))], nearest(values))
    several = np.array(sizes) > 1
    assert (scores.per_label.loc[several, "recall"] == 1).all()
    assert (scores.per_label.loc[~several, "recall"] == 0).all()
    few = np.array(sizes) < n_folds_of(codes)
    np.testing.assert_array_equal(scores.per_label["too_few"], few)


def test_values_that_say_nothing(blood):
    _, codes, names = blood
    constant = np.ones((700, 2))
    scores = read(constant, codes, names)
    assert np.isfinite(scores.accuracy)


BETA = 0.5


@pytest.fixture(scope="module")
def cells():
    """80 cells of three labels × 6 genes, the last of which is constant."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], [40, 25, 15])
    means = np.array(
        [[3.0, 0.2, 1.0, 1.0, 0.5], [0.2, 2.0, 1.0, 2.0, 0.5], [0.3, 2.0, 2.5, 0.1, 0.5]]
    )
    values = rng.poisson(means[codes]).astype(float)
    return np.column_stack([values, np.ones(80)]), codes


def best_by_hand(values, belongs):
    """Largest F-beta over all thresholds that leave some cells off."""
    thresholds = np.unique(values)[1:]
    return max(fbeta_score(belongs, values >= t, beta=BETA) for t in thresholds)


def by_scikit_learn(values, codes, n_labels):
    """The markers as scikit-learn finds them, a label and a gene at a time: the lowest threshold of
    several, which leaves a cell off.
    """
    found = np.full((4, n_labels, values.shape[1]), np.nan)
    for gene in np.flatnonzero(np.ptp(values, axis=0) > 0):
        for label in range(n_labels):
            precision, recall, thresholds = precision_recall_curve(codes == label, values[:, gene])
            p, r = precision[1:-1], recall[1:-1]
            weighed = BETA**2 * p + r
            f = np.divide((1 + BETA**2) * p * r, weighed, np.zeros_like(p), where=weighed > 0)
            best = int(np.argmax(f))
            found[:, label, gene] = thresholds[1 + best], f[best], p[best], r[best]
    return found


@pytest.mark.parametrize("container", [np.asarray, sparse.csc_array], ids=["dense", "csc"])
@pytest.mark.parametrize("seed", range(6))
def test_a_gene_is_sorted_once_for_all_labels(container, seed):
    """The same numbers to the last bit: ties, counts, logarithms, constant genes, no label."""
    rng = np.random.default_rng(seed)
    codes = np.append(np.arange(4), rng.integers(-1, 4, 150))
    values = rng.poisson(rng.gamma(0.5, 2.0, (5, 8))[codes]).astype(np.float32)
    if seed % 2:
        values = np.log1p(values * rng.gamma(2.0, 1.0, (len(codes), 1)).astype(np.float32))
    values[:, 5], values[:, 6] = 0.0, 2.0
    values[:, 7] += 1.0
    labelled = codes >= 0
    single = singles(container(values), codes, 4, BETA)
    expected = by_scikit_learn(values[labelled].astype(float), codes[labelled], 4)
    found = single.threshold, single.f_beta, single.precision, single.recall
    np.testing.assert_array_equal(found, expected)
    for label in range(4):
        best = combination(container(values), codes, single, label, 3, BETA)
        on = (values >= single.threshold[label])[labelled][:, best.genes].all(axis=1)
        belongs = codes[labelled] == label
        assert best.f_beta == fbeta_score(belongs, on, beta=BETA)
        assert best.precision == belongs[on].mean()
        assert best.recall == on[belongs].mean()


def test_single_genes(cells):
    values, codes = cells
    single = singles(values, codes, 3, BETA)
    for label in range(3):
        belongs = codes == label
        for gene in range(5):
            x = values[:, gene]
            assert single.f_beta[label, gene] == pytest.approx(best_by_hand(x, belongs))
            on = x >= single.threshold[label, gene]
            assert single.precision[label, gene] == pytest.approx(belongs[on].mean())
            assert single.recall[label, gene] == pytest.approx(on[belongs].mean())
    assert np.isnan(single.f_beta[:, 5]).all()
    np.testing.assert_allclose(single.on_target.sum(axis=0), 1.0)


def test_combinations(cells):
    values, codes = cells
    single = singles(values, codes, 3, BETA)
    for label in range(3):
        belongs = codes == label
        found = combination(values, codes, single, label, 3, BETA)
        on = values >= single.threshold[label]
        every = [
            fbeta_score(belongs, on[:, some].all(axis=1), beta=BETA, zero_division=0.0)
            for size in (1, 2, 3)
            for some in combinations(range(5), size)
        ]
        assert found.f_beta == pytest.approx(max(every))
        assert found.f_beta == pytest.approx(
            fbeta_score(belongs, on[:, found.genes].all(axis=1), beta=BETA)
        )
        assert (np.diff(single.f_beta[label, found.genes]) <= 0).all()
        alone = combination(values, codes, single, label, 1, BETA)
        assert alone.f_beta == pytest.approx(np.nanmax(single.f_beta[label]))


def test_silhouette_is_as_it_is_defined(monkeypatch):
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2, -1], [20, 30, 1, 9])
    where = rng.normal(size=(60, 4)) + codes[:, None]
    labelled = np.flatnonzero(codes >= 0)
    each = []
    for cell in labelled:
        far = cdist(where[[cell]], where)[0]
        own = (codes == codes[cell]) & (np.arange(60) != cell)
        others = [far[codes == code].mean() for code in {0, 1, 2} - {codes[cell]}]
        if own.any():
            inner, outer = far[own].mean(), min(others)
            each.append((outer - inner) / max(inner, outer))
        else:
            each.append(0.0)
    assert silhouette(where, codes) == pytest.approx(np.mean(each))
    monkeypatch.setattr(readers, "IN_SILHOUETTE", 26)
    some = labelled[::2]
    assert silhouette(where[some], codes[some]) == pytest.approx(silhouette(where, codes))


@pytest.mark.parametrize("codes", [[0, 0, 0, -1], [0, 1, 2, -1]])
def test_labels_that_are_all_alike_or_all_different_have_no_silhouette(codes):
    assert np.isnan(silhouette(np.eye(4), np.array(codes)))
