"""The best panel of a size, and what is proven of its genes, against all panels."""

from __future__ import annotations

from itertools import combinations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused

from glfs_bio import Limits, Platform, pp, tl
from glfs_bio._anndata import results
from glfs_bio.criterion.criterion import OnPlatform
from glfs_bio.errors import Caution, InvalidValue
from glfs_bio.solvers import prove
from glfs_bio.tl import _prove
from glfs_bio.tl._panel import basis_of, request_for

N_OPEN, SIZE = 12, 4
#: Genes of which a limit allows one.
FAMILY = {"CST3", "FCER1A", "HLA-DQA1", "FCN1"}


@pytest.fixture
def cells(cells):
    cells.obs["batch"] = pd.Categorical(np.where(np.arange(cells.n_obs) % 2, "a", "b"))
    return cells


@pytest.fixture(scope="module")
def few(_structured):
    """Genes that are not among so few that all panels can be tried."""
    cells = _structured.copy()
    pp.select_genes(cells, 60)
    ranked = results.ranked(cells, "glfs").index
    return [gene for gene in cells.var_names if gene not in set(ranked[: 4 * N_OPEN : 4])]


@pytest.fixture(scope="module")
def _improved(_structured, few):
    """A selection that is not the best of its size, before and after that is proven."""
    improved = _structured.copy()
    pp.select_genes(improved, SIZE, exclude=few)
    proven = improved.copy()
    tl.prove_panel(proven)
    return improved, proven


@pytest.fixture
def improved(_improved):
    return _improved[0].copy()


@pytest.fixture
def proven(_improved):
    return _improved[1].copy()


@pytest.fixture
def without_search(monkeypatch):
    """A proof by bounds alone, as where the time is short."""
    monkeypatch.setattr(prove.Search, "run", lambda *_: None)


def chosen(adata, key="glfs"):
    return set(adata.var_names[adata.var[f"{key}_selected"]])


def all_panels(adata, few, include=(), key="glfs", at_most=SIZE):
    """What each panel of some genes preserves, the best first; `at_most` are of the family."""
    criterion = basis_of(adata, request_for(adata, key, across=None)).criterion
    free = [gene for gene in adata.var_names if gene not in {*few, *include}]
    assert len(free) <= N_OPEN
    shares = []
    for some in combinations(free, SIZE - len(include)):
        panel = {*include, *some}
        if len(panel & FAMILY) <= at_most:
            genes = adata.var_names.get_indexer(sorted(panel))
            shares.append((criterion.preserved(genes)[-1], panel))
    return sorted(shares, key=lambda row: -row[0])


def best_of(proof):
    return {*proof["table"]["gene"][proof["table"]["in_best"]]}


REQUESTS = {
    "plain": {},
    "must-haves": {"include": ["CD8A", "IL32"]},
    "labels": {"preserve": "bulk_labels"},
    "batches": {"batch_key": "batch"},
    "limits": {"limits": Limits(groups={"a": sorted(FAMILY)}, per_group=1)},
    "platform": {"platform": Platform(efficiency=0.3)},
}


@pytest.mark.parametrize("name", REQUESTS)
def test_no_panel_is_better(cells, few, name):
    include = REQUESTS[name].get("include", [])
    out = [gene for gene in few if gene not in include]
    pp.select_genes(cells, SIZE, exclude=out, search="best", **REQUESTS[name])
    every = all_panels(cells, out, include, at_most=1 if name == "limits" else SIZE)
    entry = cells.uns["glfs"]
    assert chosen(cells) == every[0][1]
    assert entry["preserved"][-1] == pytest.approx(every[0][0])
    assert entry["optimality"][-1] == 1.0
    assert entry["params"]["search"] == "best"
    pp.select_genes(cells, SIZE, exclude=out, **REQUESTS[name])
    assert cells.uns["glfs"]["preserved"][-1] <= entry["preserved"][-1] + 1e-12


@pytest.mark.parametrize(
    ("name", "tolerance"), [("plain", 0.005), *((name, 0.03) for name in REQUESTS)]
)
def test_certificates_are_true(cells, few, name, tolerance):
    include = REQUESTS[name].get("include", [])
    out = [gene for gene in few if gene not in include]
    pp.select_genes(cells, SIZE, exclude=out, **REQUESTS[name])
    before = cells.copy()
    tl.prove_panel(cells, tolerance=tolerance)
    every = all_panels(cells, out, include, at_most=1 if name == "limits" else SIZE)
    (most, best), proof = every[0], cells.uns["glfs_proof"]
    assert proof["proven"]
    assert proof["best_preserved"] == pytest.approx(most)
    assert proof["most_preserved"] == pytest.approx(most)
    for column, lost in (("certificate", 1e-9), ("certificate_within", tolerance * most)):
        good = [panel for share, panel in every if share >= most - lost]
        known = cells.var[f"glfs_{column}"].astype(str)
        assert set(known) <= {"every", "none", "open"}
        for gene in known.index[known == "every"]:
            assert all(gene in panel for panel in good)
        for gene in known.index[known == "none"]:
            assert not any(gene in panel for panel in good)
    known = cells.var["glfs_certificate"].astype(str)
    assert {*known.index[known == "every"]} == best
    assert proof["n_every"] == SIZE
    assert proof["n_open"] == (known == "open").sum() == 0
    assert cells.uns["glfs"]["tolerance"] == tolerance
    # the selection is the one that it was
    unchanged = [name for name in before.var if "certificate" not in name]
    pd.testing.assert_frame_equal(cells.var[unchanged], before.var[unchanged])
    is_best = chosen(cells) == best
    share = cells.uns["glfs"]["optimality"][-1]
    assert (share == 1.0) == is_best
    assert proof["optimality"] == share >= before.uns["glfs"]["optimality"][-1]
    assert ("glfs_best" in cells.uns) != is_best
    assert {*proof["table"]["gene"][proof["table"]["in_panel"]]} == chosen(cells)
    assert best_of(proof) == best


def test_a_better_panel_stands_beside(improved, proven):
    proof, best = proven.uns["glfs_proof"], proven.uns["glfs_best"]
    assert proof["best"] == "glfs_best"
    assert best["best_of"] == "glfs"
    assert chosen(proven) == chosen(improved) != chosen(proven, "glfs_best")
    assert best["preserved"][-1] == pytest.approx(proof["best_preserved"])
    assert proof["preserved"] < proof["best_preserved"]
    assert proof["optimality"] == pytest.approx(proof["preserved"] / proof["best_preserved"])
    request = results.request_of(proven, "glfs_best")
    assert (request.search, request.n_genes) == ("best", SIZE)
    # others take it by its key
    table = tl.explain_panel(proven, "glfs_best", inplace=False)
    assert table["preserved"].iloc[-1] == pytest.approx(best["preserved"][-1])
    assert set(table["gene"]) == chosen(proven, "glfs_best")
    tl.prove_panel(proven, "glfs_best")
    assert proven.uns["glfs_best_proof"]["optimality"] == 1.0
    assert "glfs_best_best" not in proven.uns
    pp.select_genes(improved, **request.arguments(), key_added="glfs_best")
    assert chosen(improved, "glfs_best") == chosen(proven, "glfs_best")


@pytest.mark.parametrize("shorter", [False, True])
def test_again_gives_the_same(proven, request, shorter):
    """A shorter search forgets nothing."""
    before = proven.copy()
    if shorter:
        request.getfixturevalue("without_search")
    tl.prove_panel(proven)
    pd.testing.assert_frame_equal(proven.var, before.var)
    assert set(proven.uns) == set(before.uns)
    now, then = proven.uns["glfs"], before.uns["glfs"]
    np.testing.assert_array_equal(now["optimality"], then["optimality"])
    assert now["written"] == then["written"]
    now, then = proven.uns["glfs_proof"], before.uns["glfs_proof"]
    for name in ("proven", "optimality", "best_preserved", "most_preserved", "n_every"):
        assert now[name] == pytest.approx(then[name])


def test_results_of_the_selection_are_still_of_it(improved):
    """And an explanation gets what was proven."""
    tl.explain_panel(improved)
    tl.prove_panel(improved)
    for key in ("glfs_explanation", "glfs_proof"):
        assert results.why_outdated(improved, improved.uns[key]) is None
    assert results.last(improved) == "glfs_proof"
    table = improved.uns["glfs_explanation"]["table"].set_index("gene")
    now = improved.var["glfs_certificate"].astype(str)[table.index]
    assert list(table["certificate"]) == list(now)
    assert (now != "open").all()
    pp.select_genes(improved, 3, exclude="ribosomal")
    assert results.why_outdated(improved, improved.uns["glfs_proof"]) is not None


@pytest.mark.usefixtures("without_search")
def test_any_panel_is_compared(cells, few):
    names = [gene for gene in cells.var_names if gene not in few]
    pp.select_genes(cells, 3, method="variance", exclude=few, key_added="variance")
    cells.var["mine"] = cells.var_names.isin(names[:2])
    before = cells.copy()
    for panel, size in ((names[:2], 2), ("mine", 2), ("variance", 3)):
        tl.prove_panel(cells, panel, key_added="proof")
        proof = cells.uns["proof"]
        assert proof["n_genes"] == size
        assert 0 < proof["optimality"] < 1
        assert proof["preserved"] < proof["best_preserved"] <= proof["most_preserved"] + 1e-12
        assert "best" not in proof
        pd.testing.assert_frame_equal(cells.var, before.var)
        assert {*cells.uns} == {*before.uns, "proof"}


@pytest.mark.usefixtures("without_search")
def test_the_selection_stays_where_it_is_asked_to(improved):
    """For another target, or without a place."""
    before = improved.copy()
    table = tl.prove_panel(improved, inplace=False)
    assert list(table) == ["gene", "in_panel", "in_best", "certificate", "certificate_within"]
    assert "glfs_proof" not in improved.uns
    tl.prove_panel(improved, preserve="bulk_labels")
    pd.testing.assert_frame_equal(improved.var, before.var)
    assert improved.uns["glfs_proof"]["params"]["preserve"] == "bulk_labels"


@pytest.mark.usefixtures("without_search")
def test_genes_of_one_sequence_that_a_list_has(cells):
    """All panels of the size have one of them, unless the panel has more."""
    cells.var_names = cells.var_names.where(cells.var_names != "CST3", "HBA1")
    cells.var_names = cells.var_names.where(cells.var_names != "NKG7", "HBA2")
    table = tl.prove_panel(cells, ["HBA1", "HBA2"], inplace=False)
    assert table["in_panel"].sum() == 2


def test_extended_panels_keep_what_they_were_given(cells, few):
    free = [gene for gene in cells.var_names if gene not in few]
    tl.extend_panel(cells, free[:2], 4, exclude=few)
    tl.prove_panel(cells, "glfs_extended")
    share, best = all_panels(cells, few, free[:2], key="glfs_extended")[0]
    proof = cells.uns["glfs_extended_proof"]
    assert proof["best_preserved"] == pytest.approx(share)
    assert best_of(proof) == best
    assert set(cells.var.loc[free[:2], "glfs_extended_certificate"]) == {"every"}


def test_what_follows_a_best_panel_is_searched_as_it_was(cells, few):
    pp.select_genes(cells, 2, exclude=few, search="best")
    tl.extend_panel(cells, "glfs", 4)
    share, _ = all_panels(cells, few, chosen(cells))[0]
    assert cells.uns["glfs_extended"]["preserved"][-1] == pytest.approx(share)
    assert cells.uns["glfs_extended"]["params"]["search"] == "best"


def test_the_size_is_that_of_the_nested_panel(cells, few):
    pp.select_genes(cells, exclude=few, key_added="nested")
    pp.select_genes(cells, exclude=few, search="best")
    nested, best = cells.uns["nested"], cells.uns["glfs"]
    assert best["n_genes"] == nested["n_genes"]
    assert best["preserved"][-1] >= nested["preserved"][-1] - 1e-12


def test_an_interrupt_leaves_the_object(improved, unchanged, monkeypatch):
    def interrupted(*args, **given):
        raise KeyboardInterrupt

    before = improved.uns["glfs"]["optimality"][-1]
    with monkeypatch.context() as patched, unchanged(improved):
        patched.setattr(_prove, "best_panel", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tl.prove_panel(improved)
    # within the search it ends that, and what is known so far stays
    monkeypatch.setattr(prove.Search, "run", interrupted)
    tl.prove_panel(improved)
    proof = improved.uns["glfs_proof"]
    assert proof["optimality"] == pytest.approx(before, abs=0.02)
    assert proof["best_preserved"] <= proof["most_preserved"]


def test_a_selection_of_ones_own_stays(improved, few, unchanged):
    """Under the key that the better panel would have."""
    pp.select_genes(improved, SIZE - 1, exclude=few, key_added="glfs_best")
    with unchanged(improved), pytest.raises(InvalidValue, match="glfs_best"):
        tl.prove_panel(improved)


@pytest.mark.parametrize("call", [pp.select_genes, tl.extend_panel])
def test_a_better_panel_goes_with_its_selection(proven, few, call):
    if call is pp.select_genes:
        pp.select_genes(proven, SIZE + 1, exclude=few)
    else:
        tl.extend_panel(proven, "glfs", drop=sorted(chosen(proven))[0], key_added="glfs")
    assert "glfs_best" not in proven.uns
    assert not [name for name in proven.var if name.startswith("glfs_best")]


def test_replaced_panels_are_compared_with_all(improved, few):
    """Genes that stayed are no part of the request of a panel in which others were replaced."""
    gone = sorted(chosen(improved))[0]
    tl.extend_panel(improved, "glfs", drop=gone)
    _, best = all_panels(improved, [*few, gone], key="glfs_extended")[0]
    tl.prove_panel(improved, "glfs_extended")
    known = improved.var["glfs_extended_certificate"].astype(str)
    assert {*known.index[known == "every"]} == best
    is_best = chosen(improved, "glfs_extended") == best
    assert (improved.uns["glfs_extended"]["optimality"][-1] == 1.0) == is_best


def test_the_mean_of_draws_is_what_counts(cells, few):
    fewer = [*few, *[gene for gene in cells.var_names if gene not in few][:3]]
    pp.select_genes(cells, SIZE, exclude=fewer, platform=Platform(failure=0.2))
    basis = basis_of(cells, request_for(cells, "glfs"))
    drawn = OnPlatform(basis.criterion, basis.detection)
    free = np.flatnonzero(~cells.var_names.isin(fewer))
    best = max((drawn.preserved(np.array(panel))[-1], panel) for panel in combinations(free, SIZE))
    tl.prove_panel(cells)
    proof = cells.uns["glfs_proof"]
    assert proof["proven"]
    assert proof["best_preserved"] == pytest.approx(best[0])
    assert best_of(proof) == {*cells.var_names[[*best[1]]]}


def test_the_worst_has_no_proof(cells, few):
    """Nor has what the criterion does not choose."""
    for options in ({"method": "variance"}, {"objective": "exact"}):
        with refused(InvalidValue, "search"):
            pp.select_genes(cells, 3, search="best", **options)
    worst = {"batch_key": "batch", "across": "worst"}
    with refused(InvalidValue, "search"):
        pp.select_genes(cells, SIZE, search="best", **worst)
    pp.select_genes(cells, SIZE, exclude=few, **worst)
    with refused(InvalidValue, "panel"):
        tl.prove_panel(cells)
    assert "glfs_proof" not in cells.uns


def test_nothing_to_compare_is_refused(cells, improved):
    """Noise, all genes, must-haves alone, several datasets, and a selection from other cells."""
    noise = ad.AnnData(np.log1p(np.random.default_rng(0).poisson(1.0, (80, 40)).astype(float)))
    with pytest.warns(Caution):
        pp.select_genes(noise, 3)
    with pytest.warns(Caution), refused(InvalidValue, "preserve"):
        tl.prove_panel(noise)
    some = ad.AnnData(cells[:, :6].X, var=cells.var.iloc[:6])
    with refused(InvalidValue, "panel"):
        tl.prove_panel(some, list(some.var_names))
    pp.select_genes(cells, 2, include=["CD3D", "LYZ"])
    first, second = cells[::2].copy(), cells[1::2].copy()
    pp.select_genes([first, second], 3)
    improved.X[:, :50] *= 3.0
    for adata, remedy in ((cells, ""), (first, "`batch_key`"), (improved, "")):
        with refused(InvalidValue, "panel") as refusal:
            tl.prove_panel(adata)
        assert remedy in str(refusal.value)
        assert "glfs_proof" not in adata.uns
