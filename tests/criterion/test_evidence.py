"""R of ordered pairs of types against its formula, brute force, differences and the solvers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scanpy as sc

import glfs_bio
from glfs_bio import Limits, Platform
from glfs_bio.criterion.error import Evidence, evaluate
from glfs_bio.solvers.greedy import Greedy
from glfs_bio.solvers.relaxation import relax

LABELS, NAMED = "bulk_labels", Platform("xenium_v1")


@pytest.fixture(scope="module")
def cells():
    """Blood cells without the labels of few cells."""
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    glfs_bio.pp.select_genes(adata, 12, preserve=LABELS, platform=NAMED)
    return adata


@pytest.fixture
def block():
    """Evidence of twelve genes for six pairs."""
    rng = np.random.default_rng(0)
    genes = rng.gamma(0.3, 5.0, (12, 6)) * (rng.random((12, 6)) < 0.6)
    return Evidence(genes, rng.random(6), np.zeros(6), genes.sum(axis=0))


def gained(block, panel):
    """R of a panel, by the formula."""
    return block.weights @ np.log1p(block.genes[list(panel)].sum(axis=0))


def formula(adata, noise):
    """R of all panels by loops: evidence of genes for ordered pairs, and the weights of these."""
    expression, labels = adata.X.toarray().astype(float), adata.obs[LABELS].to_numpy()
    groups = [expression[labels == label] for label in np.unique(labels)]
    counts = np.array([np.expm1(group).mean(axis=0) for group in groups])
    evidence, weights = [], []
    for m, up in enumerate(groups):
        for k, down in enumerate(groups):
            shift = np.maximum(up.mean(axis=0) - down.mean(axis=0), 0)
            within = (up.var(axis=0) + down.var(axis=0)) / 2 + noise
            evidence.append(counts[m] / np.maximum(counts.sum(axis=0), 1e-12) * shift**2 / within)
            weights.append(np.sqrt(len(up) * len(down)) * (m != k))
    return np.array(evidence), np.array(weights)


def test_preserved_is_the_share_of_r_that_all_genes_have(cells):
    evidence, weights = formula(cells, float(cells.uns["glfs"]["assay_noise"]))
    order = cells.var_names.get_indexer(
        cells.var[cells.var["glfs_selected"]].sort_values("glfs_rank").index
    )
    of_panels = [weights @ np.log1p(evidence[:, order[:k]].sum(axis=1)) for k in range(1, 13)]
    of_all = weights @ np.log1p(evidence.sum(axis=1))
    assert np.allclose(cells.uns["glfs"]["preserved"], np.array(of_panels) / of_all)
    gains = weights @ np.log1p(evidence)
    assert order[0] == np.argmax(np.where(cells.var["glfs_rank"].notna(), gains, -1))
    assert (cells.uns["glfs"]["optimality"] > 0.7).all()


def test_gradient_and_curvature_are_those_of_differences(block):
    beta, step = np.random.default_rng(1).random(12), 1e-5
    _, gradient, (inverse,) = evaluate([block], beta)
    steps = step * np.eye(12)
    slopes = [(block.value(beta + d) - block.value(beta - d)) / (2 * step) for d in steps]
    assert np.allclose(gradient, slopes, rtol=1e-6)
    ahead = np.array(
        [evaluate([block], beta + d)[1] - evaluate([block], beta - d)[1] for d in steps]
    )
    assert np.allclose(block.curvature(inverse), ahead / (2 * step), rtol=1e-5, atol=1e-9)


def test_values_losses_and_exchanges_are_those_of_the_formula(block):
    panel, rest = [0, 3, 5, 7], [1, 2, 4]
    whole, every = gained(block, panel), gained(block, range(12))
    inverse = block.only(panel).inverse(np.ones(4))
    assert np.isclose(block.only(panel).value(np.ones(4)), every - whole)
    along = [every - gained(block, panel[:k]) for k in range(5)]
    assert np.allclose(block.only(panel).along(), along)
    lost, gains, again = block.changes(inverse, np.array(panel))
    without = [[gene for gene in panel if gene != out] for out in panel]
    assert np.allclose(lost[:, 0], [whole - gained(block, some) for some in without])
    assert np.allclose(block.only(panel).losses(), lost[:, 0])
    for gene in rest:
        assert np.isclose(gains[gene], gained(block, [*panel, gene]) - whole)
        added = [gained(block, [*some, gene]) - gained(block, some) for some in without]
        assert np.allclose(again[:, gene], added)


def test_a_gene_never_gains_more_in_a_larger_panel(block):
    for small in combinations(range(5), 2):
        large = [*small, 8, 9]
        for gene in (6, 7, 10, 11):
            first = gained(block, [*small, gene]) - gained(block, small)
            later = gained(block, [*large, gene]) - gained(block, large)
            assert first >= later - 1e-12
            assert later >= -1e-12


def test_greedy_is_near_to_the_best_panel_and_within_the_bound(block):
    greedy = Greedy([block])
    greedy.grow(4)
    naive = []
    for _ in range(4):
        free = [gene for gene in range(12) if gene not in naive]
        naive.append(max(free, key=lambda gene: gained(block, [*naive, gene])))
    assert greedy.picked == naive
    best = max(gained(block, panel) for panel in combinations(range(12), 4))
    every = gained(block, range(12))
    assert (1 - 1 / np.e) * best <= gained(block, naive) <= best + 1e-12
    assert best <= every - relax([block], 4).lower[-1] + 1e-9
    greedy.measure(naive[-1], -1.0)
    assert np.isclose(greedy.waiting[naive[-1]], gained(block, naive) - gained(block, naive[:-1]))


def test_limits_proof_extension_and_explanations_take_it(cells):
    adata = cells.copy()
    limits = Limits(per_type=1, groupby=LABELS)
    glfs_bio.pp.select_genes(
        adata, 10, preserve=LABELS, platform=NAMED, limits=limits, key_added="limited"
    )
    assert 0 < adata.uns["limited"]["preserved"][-1] <= adata.uns["glfs"]["preserved"][9] + 1e-9
    glfs_bio.tl.prove_panel(adata, time_limit=5)
    assert adata.uns["glfs_proof"]["optimality"] >= adata.uns["glfs"]["optimality"][-1] - 1e-9
    glfs_bio.tl.extend_panel(adata, "glfs", 13)
    assert adata.uns["glfs_extended"]["table"]["adds"][0] > 0
    table = glfs_bio.tl.explain_panel(adata, labels=LABELS, inplace=False)
    assert np.allclose(table["loss"], adata.var.loc[table["gene"], "glfs_loss"])
    assert not table["role"].str.contains("axis").any()
    assert (table["loss_with_substitute"].dropna() <= table["loss"] + 1e-12).all()


def test_a_weight_or_cells_of_the_instrument_are_labels_alone(cells):
    frames = [
        glfs_bio.pp.select_genes(cells, 8, preserve=target, platform=NAMED, inplace=False)
        for target in (LABELS, {LABELS: 1.0})
    ]
    assert not frames[0]["glfs_selected"].equals(frames[1]["glfs_selected"])


def test_too_many_labels_are_refused(cells, monkeypatch):
    monkeypatch.setattr("glfs_bio._anndata.target._MOST_EVIDENCE", 10)
    with pytest.raises(ValueError, match="weight"):
        glfs_bio.pp.select_genes(cells, 8, preserve=LABELS, platform=NAMED, inplace=False)


@pytest.mark.parametrize("argument", ["batch_key", "cell_weights"])
def test_batches_and_weights_are_refused(cells, argument):
    before = cells.copy()
    options = {"preserve": LABELS, "platform": NAMED, argument: "phase", "key_added": "other"}
    with pytest.raises(ValueError, match=argument):
        glfs_bio.pp.select_genes(cells, 8, **options)
    assert cells.uns.keys() == before.uns.keys()
