"""The best panel of a size, and what is proven of its genes, against all panels."""

from __future__ import annotations

from itertools import combinations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused

from glfs_bio import Limits, Platform, pp, tl
from glfs_bio._anndata import results, stale
from glfs_bio.errors import Caution, InvalidType, InvalidValue
from glfs_bio.selection import minimised_of
from glfs_bio.solvers import prove
from glfs_bio.tl import _prove
from glfs_bio.tl._panel import asked, basis_of

N_OPEN, SIZE = 12, 4
#: Genes of which a limit allows one.
FAMILY = {"CST3", "FCER1A", "HLA-DQA1", "FCN1"}


@pytest.fixture
def cells(pbmc):
    pp.structure(pbmc)
    pbmc.obs["batch"] = pd.Categorical(np.where(np.arange(pbmc.n_obs) % 2, "a", "b"))
    return pbmc


@pytest.fixture
def few(cells):
    """Genes that are not among so few that all panels can be tried."""
    pp.select_genes(cells, 60, key_added="many")
    ranked = results.ranked(cells, "many").index
    return [gene for gene in cells.var_names if gene not in set(ranked[: 4 * N_OPEN : 4])]


def chosen(adata, key="glfs"):
    return set(adata.var_names[adata.var[f"{key}_selected"]])


def preserved(adata, panel, key="glfs"):
    criterion = basis_of(adata, asked(adata, key, across=None)).criterion
    return criterion.preserved(adata.var_names.get_indexer(sorted(panel)))[-1]


def all_panels(adata, few, include=(), size=SIZE, key="glfs", fits=lambda panel: True):
    """What each panel of some genes preserves, the best first."""
    criterion = basis_of(adata, asked(adata, key, across=None)).criterion
    free = [gene for gene in adata.var_names if gene not in {*few, *include}]
    assert len(free) <= N_OPEN
    panels = [{*include, *some} for some in combinations(free, size - len(include))]
    found = [
        (criterion.preserved(adata.var_names.get_indexer(sorted(panel)))[-1], panel)
        for panel in panels
        if fits(panel)
    ]
    return sorted(found, key=lambda one: -one[0])


REQUESTS = {
    "plain": {},
    "must-haves": {"include": ["CD8A", "IL32"]},
    "labels": {"preserve": "bulk_labels"},
    "batches": {"batch_key": "batch"},
    "limits": {"limits": Limits(families={"a": sorted(FAMILY)}, per_family=1)},
    "platform": {"platform": Platform(efficiency=0.3)},
}


def fitting(name):
    """Which panels a request admits."""
    return (lambda panel: len(panel & FAMILY) < 2) if name == "limits" else lambda panel: True


@pytest.mark.parametrize("name", REQUESTS)
def test_no_panel_is_better(cells, few, name):
    include = REQUESTS[name].get("include", [])
    out = [gene for gene in few if gene not in include]
    pp.select_genes(cells, SIZE, exclude=out, search="best", **REQUESTS[name])
    every = all_panels(cells, out, include, fits=fitting(name))
    entry = cells.uns["glfs"]
    assert chosen(cells) == every[0][1]
    assert entry["preserved"][-1] == pytest.approx(every[0][0])
    assert entry["optimality"][-1] == 1.0
    assert entry["params"]["search"] == "best"
    nested = cells.copy()
    pp.select_genes(nested, SIZE, exclude=out, **REQUESTS[name])
    assert nested.uns["glfs"]["preserved"][-1] <= entry["preserved"][-1] + 1e-12


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("tolerance", [0.005, 0.03])
def test_certificates_are_true(cells, few, name, tolerance):
    include = REQUESTS[name].get("include", [])
    out = [gene for gene in few if gene not in include]
    pp.select_genes(cells, SIZE, exclude=out, **REQUESTS[name])
    before = cells.copy()
    tl.prove_panel(cells, tolerance=tolerance)
    every, proof = all_panels(cells, out, include, fits=fitting(name)), cells.uns["glfs_proof"]
    most = every[0][0]
    assert proof["proven"]
    assert proof["best_preserved"] == pytest.approx(most)
    assert proof["most_preserved"] == pytest.approx(most)
    for column, lost in (("certificate", 1e-9), ("certificate_within", tolerance * most)):
        good = [panel for share, panel in every if share >= most - lost]
        known = cells.var[f"glfs_{column}"].astype(str)
        for gene in known.index[known == "every"]:
            assert all(gene in panel for panel in good)
        for gene in known.index[known == "none"]:
            assert not any(gene in panel for panel in good)
        assert set(known) <= {"every", "none", "open"}
    known = cells.var["glfs_certificate"].astype(str)
    assert proof["n_every"] == (known == "every").sum()
    assert proof["n_open"] == (known == "open").sum() == 0
    assert {*known.index[known == "every"]} == every[0][1]
    assert cells.uns["glfs"]["tolerance"] == tolerance
    # the selection is the one that it was
    unchanged = [name for name in before.var if "certificate" not in name]
    pd.testing.assert_frame_equal(cells.var[unchanged], before.var[unchanged])
    is_best = chosen(cells) == every[0][1]
    share = cells.uns["glfs"]["optimality"][-1]
    assert (share == 1.0) == is_best
    assert proof["optimality"] == share >= before.uns["glfs"]["optimality"][-1]
    assert ("glfs_best" in cells.uns) != is_best
    table = proof["table"].set_index("gene")
    assert {*table.index[table["in_panel"]]} == chosen(cells)
    assert {*table.index[table["in_best"]]} == every[0][1]


@pytest.fixture
def improved(cells, few):
    """A selection that is not the best of its size."""
    pp.select_genes(cells, SIZE, exclude=few)
    return cells


def test_a_better_panel_stands_beside(improved):
    nested = chosen(improved)
    tl.prove_panel(improved)
    proof, best = improved.uns["glfs_proof"], improved.uns["glfs_best"]
    assert proof["best"] == "glfs_best"
    assert chosen(improved) == nested != chosen(improved, "glfs_best")
    assert best["preserved"][-1] == pytest.approx(proof["best_preserved"])
    assert proof["preserved"] < proof["best_preserved"]
    assert proof["optimality"] == pytest.approx(proof["preserved"] / proof["best_preserved"])
    request = results.request_of(improved, "glfs_best")
    assert (request.search, request.n_genes) == ("best", SIZE)
    assert pp.recorded_parameters(improved, "glfs_best")["exclude"] is not None
    # others take it by its key
    tl.evaluate_panel(improved, "glfs_best", n_random=2)
    assert improved.uns["glfs_best_evaluation"]["preserved"] == pytest.approx(best["preserved"][-1])
    table = tl.substitutes(improved, "glfs_best", inplace=False)
    assert set(table["gene"]) == chosen(improved, "glfs_best")
    tl.prove_panel(improved, "glfs_best")
    assert improved.uns["glfs_best_proof"]["optimality"] == 1.0
    assert "glfs_best_best" not in improved.uns
    again = improved.copy()
    pp.select_genes(again, **pp.recorded_parameters(again, "glfs_best"))
    assert chosen(again, "glfs_best") == chosen(improved, "glfs_best")


def test_again_gives_the_same(improved):
    tl.prove_panel(improved)
    before = improved.copy()
    tl.prove_panel(improved)
    pd.testing.assert_frame_equal(improved.var, before.var)
    assert set(improved.uns) == set(before.uns)
    np.testing.assert_array_equal(
        improved.uns["glfs"]["optimality"], before.uns["glfs"]["optimality"]
    )
    assert improved.uns["glfs"]["written"] == before.uns["glfs"]["written"]


def test_results_of_the_selection_are_still_of_it(improved):
    tl.substitutes(improved)
    tl.prove_panel(improved)
    for key in ("glfs_substitutes", "glfs_proof"):
        assert stale.stale(improved, improved.uns[key]) is None
    assert results.last(improved) == "glfs_proof"
    pp.select_genes(improved, 3, exclude="ribosomal")
    assert stale.stale(improved, improved.uns["glfs_proof"]) is not None


def test_any_panel_is_compared(cells, few):
    names = [gene for gene in cells.var_names if gene not in few]
    pp.select_genes(cells, 3)
    pp.select_genes(cells, 3, method="variance", exclude=few, key_added="variance")
    cells.var["mine"] = cells.var_names.isin(names[:2])
    for panel, size in ((names[:2], 2), ("mine", 2), ("variance", 3)):
        before = cells.copy()
        tl.prove_panel(cells, panel, time_limit=1.0, key_added="proof")
        proof = cells.uns["proof"]
        assert proof["n_genes"] == size
        assert 0 < proof["optimality"] < 1
        assert proof["preserved"] < proof["best_preserved"] <= proof["most_preserved"] + 1e-12
        assert "best" not in proof
        pd.testing.assert_frame_equal(cells.var, before.var)
        assert {*cells.uns} == {*before.uns, "proof"}
        del cells.uns["proof"]


def test_another_target_leaves_the_selection(improved):
    before = improved.copy()
    tl.prove_panel(improved, preserve="bulk_labels", time_limit=1.0)
    pd.testing.assert_frame_equal(improved.var, before.var)
    assert improved.uns["glfs_proof"]["params"]["preserve"] == "bulk_labels"


def test_a_table_is_returned(improved):
    before = improved.copy()
    table = tl.prove_panel(improved, inplace=False)
    assert list(table) == ["gene", "in_panel", "in_best", "certificate", "certificate_within"]
    pd.testing.assert_frame_equal(improved.var, before.var)
    assert "glfs_proof" not in improved.uns


def test_genes_of_one_sequence_that_a_list_has(cells):
    """All panels of the size have one of them, unless the panel has more."""
    cells.var_names = cells.var_names.where(cells.var_names != "CST3", "HBA1")
    cells.var_names = cells.var_names.where(cells.var_names != "NKG7", "HBA2")
    found = tl.prove_panel(cells, ["HBA1", "HBA2"], time_limit=1.0, inplace=False)
    assert found["in_panel"].sum() == 2


def test_extended_panels_keep_what_they_were_given(cells, few):
    free = [gene for gene in cells.var_names if gene not in few]
    tl.extend_panel(cells, free[:2], 2, exclude=few)
    tl.prove_panel(cells, "glfs_extended")
    best = max(
        (preserved(cells, {*free[:2], *two}, "glfs_extended"), {*two})
        for two in combinations(free[2:], 2)
    )
    proof = cells.uns["glfs_extended_proof"]
    assert proof["best_preserved"] == pytest.approx(best[0])
    assert {*proof["table"]["gene"][proof["table"]["in_best"]]} == {*free[:2], *best[1]}
    assert set(cells.var.loc[free[:2], "glfs_extended_certificate"]) == {"every"}


def test_what_follows_a_best_panel_is_searched_as_it_was(cells, few):
    free = [gene for gene in cells.var_names if gene not in few]
    pp.select_genes(cells, 2, exclude=few, search="best")
    tl.extend_panel(cells, "glfs", 2)
    base = chosen(cells)
    best = max(preserved(cells, {*base, *two}) for two in combinations({*free} - base, 2))
    assert cells.uns["glfs_extended"]["preserved"][-1] == pytest.approx(best)
    assert cells.uns["glfs_extended"]["params"]["search"] == "best"


def test_the_size_is_that_of_the_nested_panel(cells, few):
    pp.select_genes(cells, exclude=few, key_added="nested")
    pp.select_genes(cells, exclude=few, search="best")
    nested, best = cells.uns["nested"], cells.uns["glfs"]
    assert best["n_genes"] == nested["n_genes"]
    assert best["preserved"][-1] >= nested["preserved"][-1] - 1e-12


def test_an_interrupt_leaves_the_object(improved, monkeypatch):
    before = improved.copy()

    def interrupted(*args, **given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(_prove, "best_panel", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tl.prove_panel(improved)
    pd.testing.assert_frame_equal(improved.var, before.var)
    assert set(improved.uns) == set(before.uns)
    # within the search it ends that, and what is known so far is kept
    monkeypatch.setattr(prove.Search, "run", interrupted)
    tl.prove_panel(improved)
    proof = improved.uns["glfs_proof"]
    assert proof["optimality"] == pytest.approx(before.uns["glfs"]["optimality"][-1], abs=0.02)
    assert proof["best_preserved"] <= proof["most_preserved"]


def test_a_shorter_search_forgets_nothing(improved, monkeypatch):
    tl.prove_panel(improved)
    before = improved.copy()
    monkeypatch.setattr(prove.Search, "run", lambda *_: None)
    tl.prove_panel(improved)
    pd.testing.assert_frame_equal(improved.var, before.var)
    share = [adata.uns["glfs"]["optimality"][-1] for adata in (improved, before)]
    assert share[0] == share[1]
    now, then = (adata.uns["glfs_proof"] for adata in (improved, before))
    for name in ("proven", "optimality", "best_preserved", "most_preserved", "n_every"):
        assert now[name] == pytest.approx(then[name])


def test_a_selection_of_ones_own_stays(improved, few):
    """Under the key that the better panel would have."""
    pp.select_genes(improved, SIZE - 1, exclude=few, key_added="glfs_best")
    before = improved.copy()
    with pytest.raises(InvalidValue, match="glfs_best"):
        tl.prove_panel(improved)
    assert chosen(improved, "glfs_best") == chosen(before, "glfs_best")
    assert "glfs_proof" not in improved.uns


@pytest.mark.parametrize("door", ["pp.select_genes", "tl.replace_genes"])
def test_a_better_panel_goes_with_its_selection(improved, few, door):
    tl.prove_panel(improved)
    assert improved.uns["glfs_best"]["best_of"] == "glfs"
    if door == "pp.select_genes":
        pp.select_genes(improved, SIZE + 1, exclude=few)
    else:
        tl.replace_genes(improved, sorted(chosen(improved))[0], key_added="glfs")
    assert "glfs_best" not in improved.uns
    assert not [name for name in improved.var if name.startswith("glfs_best")]


def test_an_explanation_has_what_was_proven(improved):
    tl.explain_panel(improved)
    tl.prove_panel(improved)
    table = improved.uns["glfs_explanation"]["table"].set_index("gene")
    now = improved.var["glfs_certificate"].astype(str)[table.index]
    assert table["certificate"].tolist() == now.tolist()
    assert (now != "open").all()


def test_replaced_panels_are_compared_with_all(cells, few):
    """Genes that stayed are no part of the request of a panel in which others were replaced."""
    pp.select_genes(cells, SIZE, exclude=few)
    gone = sorted(chosen(cells))[0]
    tl.replace_genes(cells, gone)
    every = all_panels(cells, [*few, gone], key="glfs_replaced")
    tl.prove_panel(cells, "glfs_replaced")
    known = cells.var["glfs_replaced_certificate"].astype(str)
    assert {*known.index[known == "every"]} == every[0][1]
    is_best = chosen(cells, "glfs_replaced") == every[0][1]
    assert (cells.uns["glfs_replaced"]["optimality"][-1] == 1.0) == is_best


def test_the_mean_of_draws_is_what_counts(cells, few):
    pp.select_genes(cells, SIZE, exclude=few, platform=Platform(failure=0.2))
    basis = basis_of(cells, asked(cells, "glfs"))
    drawn = minimised_of(basis.criterion, basis.detection, 0)
    free = np.flatnonzero(~cells.var_names.isin(few))
    best = max((drawn.preserved(np.array(panel))[-1], panel) for panel in combinations(free, SIZE))
    tl.prove_panel(cells)
    proof = cells.uns["glfs_proof"]
    assert proof["proven"]
    assert proof["best_preserved"] == pytest.approx(best[0])
    assert {*proof["table"]["gene"][proof["table"]["in_best"]]} == {*cells.var_names[[*best[1]]]}


def test_the_worst_has_no_proof(cells, few):
    given = {"batch_key": "batch", "across": "worst"}
    with refused(InvalidValue, "search"):
        pp.select_genes(cells, SIZE, search="best", **given)
    assert "glfs" not in cells.uns
    worst = Platform(failure=0.2, case="worst")
    with refused(InvalidValue, "search"):
        pp.select_genes(cells, SIZE, search="best", platform=worst)
    for more in (given, {"platform": worst}):
        pp.select_genes(cells, SIZE, exclude=few, **more)
        with refused(InvalidValue, "panel"):
            tl.prove_panel(cells)
        assert "glfs_proof" not in cells.uns
    pp.select_genes(cells, SIZE, exclude=few, search="best", batch_key="batch")
    with refused(InvalidValue, "search"):
        tl.extend_panel(cells, "glfs", 2, across="worst")


def test_a_panel_of_must_haves_is_refused(cells):
    pp.select_genes(cells, 2, include=["CD3D", "LYZ"])
    with refused(InvalidValue, "panel"):
        tl.prove_panel(cells)


@pytest.mark.parametrize(
    ("given", "kind", "argument"),
    [
        ({"tolerance": 1.0}, InvalidValue, "tolerance"),
        ({"tolerance": -0.1}, InvalidValue, "tolerance"),
        ({"time_limit": 0}, InvalidValue, "time_limit"),
        ({"time_limit": "long"}, InvalidType, "time_limit"),
        ({"key_added": "glfs"}, InvalidValue, "key_added"),
    ],
)
def test_bad_arguments(improved, given, kind, argument):
    before = improved.copy()
    with refused(kind, argument):
        tl.prove_panel(improved, **given)
    assert set(improved.uns) == set(before.uns)


def test_a_selection_from_other_cells_is_refused(improved):
    improved.X = improved.X.copy()
    improved.X[:, :50] *= 3.0
    with refused(InvalidValue, "panel"):
        tl.prove_panel(improved)
    assert "glfs_proof" not in improved.uns


def test_nothing_to_compare_is_refused(cells):
    rng = np.random.default_rng(0)
    noise = ad.AnnData(np.log1p(rng.poisson(1.0, (80, 40)).astype(float)))
    with pytest.warns(Caution):
        pp.select_genes(noise, 3)
    with pytest.warns(Caution), refused(InvalidValue, "preserve"):
        tl.prove_panel(noise)
    some = ad.AnnData(cells[:, :6].X, var=cells.var.iloc[:6])
    with refused(InvalidValue, "panel"):
        tl.prove_panel(some, list(some.var_names))


def test_several_datasets_are_refused(cells):
    first, second = cells[::2].copy(), cells[1::2].copy()
    pp.select_genes([first, second], 3)
    with refused(InvalidValue, "panel"):
        tl.prove_panel(first)


@pytest.mark.parametrize("given", [{"method": "variance"}, {"objective": "exact"}])
def test_only_the_criterion_knows_the_best(cells, given):
    with refused(InvalidValue, "search"):
        pp.select_genes(cells, 3, search="best", **given)
