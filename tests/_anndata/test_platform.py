"""What another assay detects of each gene."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio import Limits, Platform, Preserve, pp, tl
from glfs_bio._anndata import platform
from glfs_bio._anndata.names import Lookup
from glfs_bio.errors import FileMissing, InvalidType, InvalidValue, NotFound
from glfs_bio.options import FEWEST_CELLS


@pytest.fixture
def counts():
    """Poisson counts of 3 types, and half of the molecules of the first ten genes elsewhere."""
    rng = np.random.default_rng(0)
    means = rng.gamma(1.0, 1.0, size=(3, 40))[np.repeat([0, 1, 2], 200)]
    share = np.where(np.arange(40) < 10, 0.3, 1.0)
    names = [f"g{i}" for i in range(40)]
    cells = []
    for of in (means, means * share):
        adata = ad.AnnData(sparse.csr_array(np.log1p(rng.poisson(of)).astype(np.float64)))
        adata.var_names = names
        cells.append(adata)
    return cells


def test_it_is_the_share_of_the_molecules(counts):
    here, there = counts
    found = platform.shares(Lookup(here), there, None)
    assert found[:10].mean() == pytest.approx(0.35, abs=0.06)  # types differ, which hides some
    assert found[10:].mean() == pytest.approx(1.0, abs=0.06)
    part = there[:, ::-1][:, :35].copy()
    np.testing.assert_allclose(
        platform.shares(Lookup(here), part, None)[5:],
        platform.shares(Lookup(here), there, None)[5:],
    )
    assert (platform.shares(Lookup(here), part, None)[:5] == 0).all()


def test_genes_that_are_not_seen_are_not_selected(counts, tmp_path):
    here, there = counts
    pp.select_genes(here, 10, n_comps=5)
    before = set(here.var_names[here.var["glfs_selected"]])
    blind = {name: float(name not in before) for name in here.var_names}
    pp.select_genes(here, 10, n_comps=5, platform=Platform(efficiency=blind))
    assert not before & set(here.var_names[here.var["glfs_selected"]])
    kept = here.uns["glfs"]["preserved"][-1]
    assert here.uns["glfs"]["params"]["platform"]["efficiency"] == "glfs_efficiency"
    assert here.var["glfs_efficiency"].to_dict() == blind

    here.write_h5ad(tmp_path / "here.h5ad")
    again = ad.read_h5ad(tmp_path / "here.h5ad")
    ranks = again.var["glfs_rank"].copy()
    pp.select_genes(again, **pp.recorded_parameters(again))
    assert (again.var["glfs_rank"] == ranks).all()
    judged = tl.evaluate_panel(again, n_random=0, inplace=False)
    assert judged["preserved"] == pytest.approx(kept)
    tl.extend_panel(again, "glfs", 2)
    np.testing.assert_allclose(
        again.uns["glfs_extended"]["preserved"][:10], again.uns["glfs"]["preserved"]
    )
    assert (again.var["glfs_extended_efficiency"] == again.var["glfs_efficiency"]).all()

    pp.select_genes(here, 10, n_comps=5, platform=Platform(efficiency=there))
    assert here.var["glfs_efficiency"][:10].max() < 0.6


def test_another_selection_leaves_no_columns_of_a_platform(counts):
    here, _ = counts
    pp.select_genes(here, 5, n_comps=5, platform=Platform(efficiency=0.5, spread=0.1))
    assert {"glfs_efficiency", "glfs_spread"} <= {*here.var}
    pp.select_genes(here, 5, n_comps=5, platform=Platform(efficiency="glfs_efficiency"))
    assert (here.var["glfs_efficiency"] == 0.5).all()
    assert "glfs_spread" not in here.var
    pp.select_genes(here, 5, n_comps=5, key_added="other")
    pp.select_genes(here, 5, n_comps=5)
    assert not here.var.filter(like="efficiency").size


def test_one_share_for_all_is_more_noise(counts):
    """Fewer genes are trusted, and all that can be kept is on the scale of that assay."""
    here, _ = counts
    pp.select_genes(here, 40, n_comps=5)
    pp.select_genes(here, 40, n_comps=5, platform=Platform(efficiency=0.1), key_added="low")
    assert here.uns["low"]["preserved"][-1] == pytest.approx(1.0)
    assert here.uns["low"]["preserved"][9] < here.uns["glfs"]["preserved"][9]
    pp.select_genes(here, 40, n_comps=5, platform=Platform(efficiency=1.0), key_added="same")
    pp.select_genes(here, 40, n_comps=5, platform=Platform("imager"), key_added="named")
    np.testing.assert_allclose(here.uns["same"]["preserved"], here.uns["named"]["preserved"])


def test_a_name_alone_is_of_an_instrument(counts):
    """Noisy genes have the noise of all there; genes in other units stay as they are."""
    here, _ = counts
    every = {"n_comps": 5, "key_added": "a"}
    pp.select_genes(here, 10, n_comps=5)
    for own in (Platform(genes=list(here.var_names)), Platform(spillover=0.2)):
        pp.select_genes(here, 10, platform=own, **every)
        assert (here.var["a_rank"] == here.var["glfs_rank"]).all()
    pp.select_genes(here, 10, platform=Platform("imager"), **every)
    assert not (here.var["a_rank"] == here.var["glfs_rank"]).all()
    found = tl.evaluate_panel(here, "a", n_random=0, inplace=False)
    assert found["preserved"] == pytest.approx(here.uns["a"]["preserved"][-1])
    pp.structure(here, n_comps=5, standardize="unit", key_added="unit")
    for options in ({"method": "variance", "n_comps": 5}, {"use_rep": "unit"}):
        for key, own in (("a", None), ("b", Platform("imager"))):
            pp.select_genes(here, 10, platform=own, key_added=key, **options)
        assert (here.var["a_rank"].fillna(0) == here.var["b_rank"].fillna(0)).all()


def test_cells_of_the_platform_show_how_clear_genes_are_there(counts, tmp_path):
    """Counts and their logarithms say the same, and a record of the selection says it again."""
    here, there = counts
    rng = np.random.default_rng(1)
    noisy = here.var_names[:20]
    values = there.X.toarray()
    values[:, :20] = rng.permuted(values[:, :20], axis=0)
    there.X = sparse.csr_array(values)
    pp.select_genes(here, 8, n_comps=5, platform=Platform(efficiency=there))
    assert not set(chosen(here)) & set(noisy)
    assert here.var["glfs_signal"][:20].median() < here.var["glfs_signal"][20:].median() / 5
    recorded = here.uns["glfs"]["params"]["platform"]
    assert recorded["signal"] == "glfs_signal"
    here.write_h5ad(tmp_path / "here.h5ad")
    again = ad.read_h5ad(tmp_path / "here.h5ad")
    pp.select_genes(again, **pp.recorded_parameters(again))
    assert (again.var["glfs_rank"] == here.var["glfs_rank"]).all()
    table = pd.DataFrame({"efficiency": 1.0, "signal": here.var["glfs_signal"]}, here.var_names)
    pp.select_genes(again, 8, n_comps=5, platform=Platform(efficiency=table))
    assert (again.var["glfs_rank"] == here.var["glfs_rank"]).all()
    raw = there.copy()
    raw.X = raw.X.expm1().rint()
    pp.select_genes(again, 8, n_comps=5, platform=Platform(efficiency=raw))
    assert not set(chosen(again)) & set(noisy)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, np.asarray])
def test_cells_of_the_platform_may_stay_in_a_file(counts, tmp_path, kind):
    here, there = counts
    there.X = kind(there.X.expm1().rint().toarray())
    there.write_h5ad(tmp_path / "there.h5ad")
    backed = ad.read_h5ad(tmp_path / "there.h5ad", backed="r")
    for key, cells in (("a", there), ("b", backed)):
        platform_of = Platform(efficiency=cells)
        pp.select_genes(here, 8, n_comps=5, platform=platform_of, key_added=key)
    np.testing.assert_array_equal(here.var["a_signal"], here.var["b_signal"])
    table = tl.estimate_efficiency(raw_of(here), backed)
    np.testing.assert_allclose(table["signal"], here.var["a_signal"])
    backed.file.close()


def raw_of(adata):
    return ad.AnnData(adata.X.expm1().rint(), var=adata.var[[]])


def test_cells_without_counts_do_not_hide_that_others_have_them(counts):
    """Dense values are looked at from the first cell on."""
    here, there = counts
    whole = there.X.expm1().rint().toarray()
    empty = np.vstack([np.zeros((300, 40)), whole])
    for key, values in (("a", whole), ("b", empty)):
        cells = ad.AnnData(values, var=there.var)
        pp.select_genes(here, 8, n_comps=5, platform=Platform(efficiency=cells), key_added=key)
    np.testing.assert_allclose(here.var["a_signal"], here.var["b_signal"])


def test_too_few_cells_show_no_structure(counts, caplog):
    """As in a table of so few cells, only efficiencies are known, and this is said."""
    here, there = counts
    few = there[np.linspace(0, 599, FEWEST_CELLS - 1, dtype=int)].copy()
    pp.select_genes(here, 8, n_comps=5, platform=Platform(efficiency=few))
    assert "glfs_signal" not in here.var
    assert "glfs_efficiency" in here.var
    assert f"{FEWEST_CELLS} cells" in caplog.text


def test_genes_that_the_platform_is_blind_to_are_said(counts, caplog):
    here, there = counts
    pp.select_genes(here, 8, n_comps=5, platform=Platform(efficiency=there[:, :5].copy()))
    assert "has 5 of 40 genes" in caplog.text
    assert "blind to 3 genes of the panel" in caplog.text
    caplog.clear()
    pp.select_genes(here, 5, n_comps=5, platform=Platform(efficiency=there[:, :5].copy()))
    assert "of the panel" not in caplog.text


@pytest.mark.parametrize("fault", ["nan", "empty", "twice"])
def test_a_fault_of_its_cells_is_not_one_of_the_data(counts, fault):
    here, there = counts
    if fault == "nan":
        there.X.data[3] = np.nan
    elif fault == "empty":
        there = there[:0].copy()
    else:
        there.var_names = ["g0", *there.var_names[:-1]]
    with pytest.raises(InvalidValue, match=r"^(In )?efficiency"):
        pp.select_genes(here, 5, n_comps=5, platform=Platform(efficiency=there))
    assert not len(here.var.columns)


def test_labels_on_an_instrument_come_with_the_structure(counted):
    """Labels alone tell what tells types apart in the reference; weights say otherwise."""
    instrument = Platform("imager")
    for key, preserve in (
        ("plain", LABELS),
        ("halves", {LABELS: 1, "structure": 1}),
        ("alone", {LABELS: 1}),
    ):
        pp.select_genes(counted, 10, preserve=preserve, platform=instrument, key_added=key)
    assert chosen(counted, "plain") == chosen(counted, "halves") != chosen(counted, "alone")
    assert set(pp.recorded_parameters(counted, "plain")["preserve"]) == {LABELS, "structure"}
    cells, few = counted[::2].copy(), counted[:150].copy()
    signal = pd.DataFrame({"efficiency": 1.0, "signal": 1.0}, counted.var_names)
    for seen, kept in (
        (Platform("imager", efficiency=cells), {LABELS}),
        (Platform(efficiency=signal), {LABELS}),
        (Platform(efficiency=few), {LABELS, "structure"}),
    ):
        pp.select_genes(counted, 10, preserve=LABELS, platform=seen)
        recorded = pp.recorded_parameters(counted)
        assert set(recorded["preserve"]) == kept
        ranks = counted.var["glfs_rank"].copy()
        pp.select_genes(counted, **recorded)
        assert (counted.var["glfs_rank"].fillna(0) == ranks.fillna(0)).all()


@pytest.mark.parametrize(
    ("given", "options", "kind", "argument"),
    [
        ("nope", {}, NotFound, "efficiency"),
        (np.inf, {}, InvalidValue, "efficiency"),
        (-0.1, {}, InvalidValue, "efficiency"),
        ({"g1": 0.5}, {}, InvalidValue, "efficiency"),
        (ad.AnnData(np.ones((3, 2))), {}, InvalidValue, "efficiency"),
        (0.5, {"use_rep": "unit"}, InvalidValue, "platform"),
        (0.5, {"objective": "exact"}, InvalidValue, "platform"),
    ],
)
def test_bad_detection(counts, given, options, kind, argument):
    here, _ = counts
    pp.structure(here, n_comps=5, standardize="unit", key_added="unit")
    with refused(kind, argument):
        pp.select_genes(here, 5, n_comps=5, platform=Platform(efficiency=given), **options)
    assert not len(here.var.columns)
    low = here.copy()
    low.X = low.X - 1.0 * sparse.csr_array(np.ones(low.shape))
    with refused(InvalidValue, "efficiency"):
        pp.select_genes(here, 5, n_comps=5, platform=Platform(efficiency=low))


LABELS = "bulk_labels"


@pytest.fixture
def counted(pbmc):
    pbmc.layers["counts"] = np.round(np.expm1(pbmc.X.toarray()))
    return pbmc


def chosen(adata, key="glfs"):
    return list(adata.var_names[adata.var[f"{key}_selected"]])


def words(adata, n_bits=6, seed=0):
    rng = np.random.default_rng(seed)
    bits = [
        np.isin(np.arange(n_bits), rng.choice(n_bits, 2, replace=False))
        for _ in range(adata.n_vars)
    ]
    return pd.DataFrame(np.array(bits).astype(int), adata.var_names)


def test_only_genes_with_probes_are_selected(counted, tmp_path):
    pp.select_genes(counted, 10)
    best = chosen(counted)
    rest = [name for name in counted.var_names if name not in best]
    probes = dict.fromkeys(best, 2) | dict.fromkeys(rest, 8) | {"elsewhere": 8}
    file = tmp_path / "orderable.csv"
    file.write_text("Gene symbol\n" + "\n".join(rest), encoding="utf-8")
    counted.var["known"] = ~counted.var_names.isin(best)
    counted.var["n_probes"] = pd.Series(probes)
    for number, own in enumerate(
        (
            Platform(genes=rest),
            Platform(genes=probes, min_probes=3),
            Platform(genes=str(file)),
            Platform(genes="known"),
            Platform(genes="n_probes", min_probes=3),
        )
    ):
        pp.select_genes(counted, 10, platform=own, key_added=f"a{number}")
        assert not set(best) & set(chosen(counted, f"a{number}"))
        assert chosen(counted, f"a{number}") == chosen(counted, "a0")
    pp.select_genes(counted, 10, exclude=best, key_added="b")
    assert chosen(counted, "b") == chosen(counted, "a0")
    with refused(InvalidValue, "include"):
        pp.select_genes(counted, 10, include=best[0], platform=Platform(genes=rest))
    table = tl.extend_panel(counted, best, 5, platform=Platform(genes=rest), inplace=False)
    assert len(table) == 5
    found = tl.evaluate_panel(counted, best, platform=Platform(genes=rest), inplace=False)
    assert set(found["not_orderable"]) == set(best)


@pytest.mark.parametrize(
    ("given", "kind", "argument"),
    [
        ({"genes": "nowhere"}, NotFound, "platform"),
        ({"genes": ["NOT1", "NOT2"]}, InvalidValue, "platform"),
        ({"genes": [3]}, InvalidType, "platform"),
        ({"genes": ["LYZ"], "min_probes": 2}, InvalidValue, "min_probes"),
        ({"genes": ["LYZ"]}, InvalidValue, "n_genes"),
        ({"efficiency": pd.DataFrame({"x": [1.0]}, ["LYZ"])}, InvalidValue, "efficiency"),
        ({"efficiency": pd.DataFrame({"efficiency": [1.0]}, ["LYZ"])}, InvalidValue, "efficiency"),
        ({"efficiency": 0.5, "spread": -1.0}, InvalidValue, "spread"),
        ({"efficiency": 0.5, "case": "worst"}, InvalidValue, "case"),
        ({"off_target": 1.5}, InvalidValue, "off_target"),
    ],
)
def test_platforms_that_cannot_be_are_refused(counted, given, kind, argument):
    with refused(kind, argument):
        pp.select_genes(counted, 5, platform=Platform(**given))
    assert "glfs" not in counted.uns


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        ({"genes": {"LYZ": 3}}, "platform"),
        ({"min_probes": 3}, "min_probes"),
        ({"spread": 0.3}, "spread"),
        ({"efficiency": 1.0, "case": "best"}, "case"),
        ({"max_off_target": 0.3}, "max_off_target"),
        ({"codebook": {"A": "01", "B": "011"}}, "codebook"),
        ({"codebook": {"A": "021"}}, "codebook['A']"),
        ({"codebook": pd.DataFrame({"b": [2]}, ["A"])}, "codebook"),
    ],
)
def test_platforms_check_themselves(given, argument):
    with refused(InvalidValue, argument):
        Platform(**given)


def test_a_codebook_is_read_without_its_blanks(counted, tmp_path):
    file = tmp_path / "codebook.csv"
    genes = list(counted.var_names[:30])
    rows = [f"{gene},ENST{place},merfish,1,0,1" for place, gene in enumerate(genes)]
    head = ["# panel: x", "name,id,barcodeType,b1,b2,b3"]
    file.write_text("\n".join([*head, *rows, "Blank-1,,merfish,0,1,1"]), encoding="utf-8")
    pp.select_genes(counted, 5, platform=Platform(codebook=str(file)), key_added="a")
    file.unlink()  # what is recorded holds the codewords
    recorded = pp.recorded_parameters(counted, "a")["platform"]
    assert recorded.codebook == dict.fromkeys(genes, "101")
    with refused(FileMissing, "codebook"):
        pp.select_genes(counted, 5, platform=Platform(codebook=str(file)))
    file.write_text("LYZ\n", encoding="utf-8")
    with refused(InvalidValue, "codebook"):
        pp.select_genes(counted, 5, platform=Platform(codebook=str(file)))


def test_loads_of_bits_hold_on_the_platform(counted):
    codebook = words(counted)
    efficiency = pd.Series(np.linspace(0.2, 2.0, counted.n_vars), counted.var_names)
    platform = Platform("imager", efficiency=efficiency.to_dict(), codebook=codebook)
    means = counted.layers["counts"].mean(axis=0) * efficiency.to_numpy()

    def loads(key):
        return codebook.to_numpy().T @ (means * counted.var[f"{key}_selected"].to_numpy())

    pp.select_genes(counted, 12, platform=platform, key_added="free")
    most = float(loads("free").max() / 2)
    limits = Limits(max_total_per_bit=most, counts_layer="counts")
    pp.select_genes(counted, 12, platform=platform, limits=limits)
    assert loads("glfs").max() <= most * (1 + 1e-9)
    assert 0.5 < counted.uns["glfs"]["optimality"][-1] <= 1
    assert counted.uns["glfs"]["preserved"][-1] <= counted.uns["free"]["preserved"][-1]
    found = tl.evaluate_panel(counted, "glfs", counts_layer="counts", n_random=0, inplace=False)
    np.testing.assert_allclose(found["counts_per_bit"], loads("glfs"))
    assert found["counts_on_platform"] == pytest.approx(loads("glfs").sum() / 2)
    with refused(InvalidValue, "max_total_per_bit"):
        pp.select_genes(counted, 12, limits=limits)


def test_genes_of_a_catalogue_are_measured_although_they_cannot_be_added(counted):
    catalogue, rest = counted.var_names[:3], list(counted.var_names[3:])
    whole = Platform(efficiency=0.5)
    some = Platform(genes=rest, efficiency=0.5)
    before, after = (
        tl.evaluate_panel(counted, list(catalogue), platform=one, inplace=False)["preserved"]
        for one in (whole, some)
    )
    assert before == after > 0


def test_a_record_makes_the_same_selection_from_a_file(counted, tmp_path):
    table = pd.DataFrame(
        {"efficiency": 0.5, "spread": 0.4, "off_target": np.linspace(0, 0.3, counted.n_vars)},
        counted.var_names,
    )
    platform = Platform(
        "imager",
        list(counted.var_names[::2]),
        efficiency=table,
        failure={"LYZ": 0.9},
        case="worst",
        max_off_target=0.25,
        codebook=words(counted),
    )
    limits = Limits(
        max_total_per_bit=30.0,
        counts_layer="counts",
        expected_counts={"LYZ": 5.0},
        together=[list(counted.var_names[:4:2])],
    )
    pp.select_genes(counted, 8, platform=platform, limits=limits)
    counted.write_h5ad(tmp_path / "x.h5ad")
    again = ad.read_h5ad(tmp_path / "x.h5ad")
    recorded = pp.recorded_parameters(again)
    assert recorded["limits"] == limits
    assert recorded["platform"].codebook == platform.codebook
    pp.select_genes(again, **(recorded | {"key_added": "b"}))
    assert (again.var["b_rank"].fillna(0) == again.var["glfs_rank"].fillna(0)).all()


def test_spread_costs_and_the_worst_case_is_below_the_mean(counted):
    for case in ("mean", "worst"):
        platform = Platform(efficiency=0.5, spread=1.0, failure=0.1, case=case)
        pp.select_genes(counted, 10, platform=platform, key_added=case)
    mean, worst = counted.uns["mean"], counted.uns["worst"]
    assert worst["preserved_on_platform"][-1] < mean["preserved_on_platform"][-1]
    assert mean["preserved_on_platform"][-1] < mean["preserved"][-1]
    assert 0 < worst["optimality"][-1] <= 1
    for case in ("mean", "worst"):
        found = tl.evaluate_panel(counted, case, n_random=0, inplace=False)
        assert found["preserved_on_platform"] == pytest.approx(
            counted.uns[case]["preserved_on_platform"][-1]
        )
        low, high = (found[f"preserved_on_platform_{end}"] for end in ("low", "high"))
        assert low < found["preserved"] or low < high
        assert low <= high


def test_off_target_shares_cost(counted):
    pp.select_genes(counted, 8)
    first = chosen(counted)
    platform = Platform(off_target=dict.fromkeys(first, 0.999))
    pp.select_genes(counted, 8, platform=platform, key_added="cost")
    assert not set(first) & set(chosen(counted, "cost"))
    platform = Platform(off_target=dict.fromkeys(first, 0.3), max_off_target=0.2)
    pp.select_genes(counted, 8, platform=platform, key_added="out")
    assert not set(first) & set(chosen(counted, "out"))


def test_pairs_are_in_both_or_none(counted):
    pp.select_genes(counted, 12)
    first = chosen(counted)
    last = list(counted.var_names[counted.var["glfs_rank"].argsort().to_numpy()][-3:])
    pairs = [(first[0], last[0]), (first[1], last[1], "ABSENT"), last[1:]]
    for n_genes in (12, None):
        pp.select_genes(counted, n_genes, limits=Limits(together=pairs), key_added="p")
        found = chosen(counted, "p")
        assert (first[0] in found) == (last[0] in found)
        assert not {first[1], *last[1:]} & set(found)
    pp.select_genes(counted, 12, include=last[0], limits=Limits(together=pairs), key_added="p")
    assert first[0] in chosen(counted, "p")
    table = tl.extend_panel(
        counted, [last[0], "LYZ"], 3, limits=Limits(together=pairs[:1]), inplace=False
    )
    assert first[0] in list(table["gene"])
    offers = tl.substitutes(counted, "p", inplace=False)
    assert not {first[0], last[0]} & set(offers["substitute"])
    with refused(InvalidValue, "together"):
        pp.select_genes(counted, 12, include=first[1], limits=Limits(together=pairs))


def test_genes_that_the_reference_lacks_count_in_limits(counted):
    """Silent genes are added to the reference, and are in the panel from the start."""
    silent = ad.AnnData(
        sparse.csr_matrix((counted.n_obs, 2)), counted.obs[[]], pd.DataFrame(index=["NEW1", "NEW2"])
    )
    silent.layers["counts"] = np.zeros((counted.n_obs, 2))
    whole = ad.concat([counted, silent], axis=1, merge="first")
    limits = Limits(
        max_total_per_cell=30.0,
        counts_layer="counts",
        expected_counts={"NEW1": 12.0, "NEW2": 12.0},
        families={"new": ["NEW1", "NEW2", "LYZ"]},
        per_family=2,
        cost=dict.fromkeys(whole.var_names, 1.0) | {"NEW1": 3.0, "NEW2": 3.0},
        budget=14.0,
    )
    pp.select_genes(whole, include=["NEW1", "NEW2"], limits=limits)
    found = chosen(whole)
    assert {"NEW1", "NEW2"} < set(found)
    assert "LYZ" not in found
    assert len(found) <= 10
    total = whole[:, [name for name in found if name[:3] != "NEW"]].layers["counts"]
    assert total.sum(axis=1).mean() <= 6.0 + 1e-9
    with refused(InvalidValue, "include"):
        pp.select_genes(
            whole,
            include=["NEW1", "NEW2"],
            limits=Limits(
                max_total_per_cell=20.0,
                counts_layer="counts",
                expected_counts={"NEW1": 12.0, "NEW2": 12.0},
            ),
        )


def test_one_panel_for_several_tissues(counted):
    """Beside a catalogue, of which both tissues preserve as much as can be."""
    rng = np.random.default_rng(0)
    counted.obs["tissue"] = pd.Categorical(
        np.where(
            counted.obs[LABELS].str.startswith("CD").to_numpy() ^ (rng.random(counted.n_obs) < 0.1),
            "blood",
            "lymph node",
        )
    )
    catalogue = ["LYZ", "CD79A"]
    given = {"include": catalogue, "batch_key": "tissue", "platform": Platform(efficiency=0.5)}
    pp.select_genes(counted, 10, **given)
    pp.select_genes(counted, 10, across="worst", **given, key_added="worst")
    least = {key: counted.uns[key]["preserved_in_batches"][-1].min() for key in ("glfs", "worst")}
    assert least["worst"] >= least["glfs"] - 1e-6
    assert set(catalogue) < set(chosen(counted, "worst"))
    assert set(counted.uns["worst"]["batches"]) == {"blood", "lymph node"}
    pp.structure(counted, batch_key="tissue", key_added="by_tissue")
    for key, across in (("glfs", "mean"), ("worst", "worst")):
        tl.extend_panel(
            counted,
            catalogue,
            8,
            preserve=Preserve("structure", use_rep="by_tissue"),
            platform=given["platform"],
            across=across,
            labels=LABELS,
            key_added="extended",
        )
        assert set(chosen(counted, "extended")) == set(chosen(counted, key))
        assert pp.recorded_parameters(counted, "extended")["across"] == across


def test_the_forecast_of_a_panel(counted, tmp_path):
    thinned = counted.copy()
    rng = np.random.default_rng(0)
    thinned.layers["counts"] = rng.binomial(counted.layers["counts"].astype(int), 0.2).astype(float)
    thinned = thinned[:, :500].copy()
    table = tl.estimate_efficiency(
        counted, thinned, LABELS, counts_layer="counts", spatial_layer="counts"
    )
    panel = ["LYZ", "CD79A", "NKG7", "CD3D", "FCER1A", "GNLY"]
    given = {"counts_layer": "counts", "n_random": 0}
    tl.evaluate_panel(counted, panel, LABELS, platform=Platform(efficiency=table), **given)
    entry = counted.uns["glfs_evaluation"]
    forecast = entry["forecast"]
    assert list(forecast.index) == list(entry["per_label"].index)
    assert (forecast["recall_low"] <= forecast["recall_high"]).all()
    assert entry["accuracy_on_platform"] < entry["accuracy"]
    counted.write_h5ad(tmp_path / "x.h5ad")
    again = ad.read_h5ad(tmp_path / "x.h5ad").uns["glfs_evaluation"]["forecast"]
    np.testing.assert_allclose(again["recall"], forecast["recall"])


def test_spillover_is_forecast_and_selects_nothing(counted, tmp_path):
    for efficiency in (None, 0.4):
        given = {"efficiency": efficiency}
        platforms = {"spilt": Platform(spillover=0.3, **given)}
        platforms["whole"] = Platform(**given) if efficiency else None
        for key, one in platforms.items():
            pp.select_genes(counted, 10, platform=one, key_added=key)
        pd.testing.assert_series_equal(
            counted.var["spilt_rank"], counted.var["whole_rank"], check_names=False
        )
    tl.evaluate_panel(counted, "spilt", LABELS, counts_layer="counts", n_random=0)
    entry = counted.uns["spilt_evaluation"]
    plain = tl.evaluate_panel(
        counted, "whole", LABELS, counts_layer="counts", n_random=0, inplace=False
    )
    np.testing.assert_array_equal(
        entry["forecast"]["recall_without_spillover"], plain["forecast"]["recall"]
    )
    assert entry["accuracy_without_spillover"] == plain["accuracy_on_platform"]
    assert entry["accuracy_on_platform"] < entry["accuracy_without_spillover"]
    assert "leaks" not in plain
    assert entry["leaks"]["share"].is_monotonic_decreasing
    assert set(entry["leaks"]["predicted"]) <= set(entry["forecast"].index)
    assert entry["mecr_on_platform"] > entry["mecr_reference"]
    np.testing.assert_allclose(entry["neighbor_frequencies"].sum(axis=1), 1.0)
    counted.write_h5ad(tmp_path / "x.h5ad")
    again = ad.read_h5ad(tmp_path / "x.h5ad").uns["spilt_evaluation"]
    options = {"check_dtype": False, "check_column_type": False}
    pd.testing.assert_frame_equal(again["leaks"], entry["leaks"], **options)


def test_neighbours_are_read_before_any_work(counted):
    spatial = counted.copy()
    before = set(counted.uns)
    given = {"platform": Platform(spillover=0.1, spillover_to=spatial), "counts_layer": "counts"}
    with refused(NotFound, "spillover_to"):
        tl.evaluate_panel(counted, ["LYZ", "CD79A"], LABELS, **given)
    assert set(counted.uns) == before
    spatial.obsm["spatial"] = spatial.obsm["X_umap"]
    found = tl.evaluate_panel(counted, ["LYZ", "CD79A"], LABELS, **given, inplace=False)
    frequencies = np.asarray(found["neighbor_frequencies"])
    assert np.diag(frequencies).mean() > 0.3  # UMAP has types together


def test_spillover_without_labels_is_said(counted, caplog):
    found = tl.evaluate_panel(
        counted, ["LYZ", "CD79A"], platform=Platform(spillover=0.1), n_random=0, inplace=False
    )
    assert "forecast" not in found
    assert "spillover" in caplog.text
