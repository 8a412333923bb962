"""What another assay detects of each gene."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from all_panels import measured
from refusals import not_refused, refused
from scipy import sparse

from glfs_bio import Limits, Platform, pp, tl
from glfs_bio._anndata.results import request_of
from glfs_bio.errors import FileMissing, InvalidType, InvalidValue, NotFound
from glfs_bio.options import FEWEST_CELLS

LABELS = "bulk_labels"


@pytest.fixture
def counts():
    """Poisson counts of 3 types, and a third of the molecules of the first ten genes elsewhere."""
    rng = np.random.default_rng(0)
    means = rng.gamma(1.0, 1.0, size=(3, 40))[np.repeat([0, 1, 2], 200)]
    share = np.where(np.arange(40) < 10, 0.3, 1.0)
    both = []
    for of in (means, means * share):
        adata = ad.AnnData(sparse.csr_array(np.log1p(rng.poisson(of)).astype(np.float64)))
        adata.var_names = [f"g{i}" for i in range(40)]
        both.append(adata)
    return both


@pytest.fixture
def counted(pbmc):
    pbmc.layers["counts"] = np.round(np.expm1(pbmc.X.toarray()))
    return pbmc


def chosen(adata, key="glfs"):
    return list(adata.var_names[adata.var[f"{key}_selected"]])


def raw_of(adata):
    return ad.AnnData(adata.X.expm1().rint(), var=adata.var[[]])


def codewords(adata):
    rng = np.random.default_rng(0)
    bits = np.tile([1, 1, 0, 0, 0, 0], (adata.n_vars, 1))
    return pd.DataFrame(rng.permuted(bits, axis=1), adata.var_names)


def test_genes_that_are_not_seen_are_not_selected(counts):
    here, there = counts
    pp.select_genes(here, 10, n_comps=5)
    before = set(chosen(here))
    blind = {name: float(name not in before) for name in here.var_names}
    pp.select_genes(here, 10, n_comps=5, platform=Platform(efficiency=blind))
    assert not before & set(chosen(here))
    assert here.uns["glfs"]["params"]["platform"]["efficiency"] == "glfs_efficiency"
    assert here.var["glfs_efficiency"].to_dict() == blind
    ranks = here.var["glfs_rank"].copy()
    pp.select_genes(here, **request_of(here, "glfs").arguments())
    assert (here.var["glfs_rank"] == ranks).all()
    evaluation = tl.evaluate_panel(here, measures="preserved", inplace=False)
    assert measured(evaluation)["value"]["preserved"] == pytest.approx(
        here.uns["glfs"]["preserved"][-1]
    )
    tl.extend_panel(here, "glfs", 12)
    np.testing.assert_allclose(
        here.uns["glfs_extended"]["preserved"][:10], here.uns["glfs"]["preserved"]
    )
    assert (here.var["glfs_extended_efficiency"] == here.var["glfs_efficiency"]).all()
    pp.select_genes(here, 10, n_comps=5, platform=Platform(efficiency=there[:, :0:-1].copy()))
    shares = here.var["glfs_efficiency"].to_numpy()
    assert shares[0] == 0
    assert shares[1:10].mean() == pytest.approx(0.35, abs=0.06)  # types differ, which hides some
    assert shares[10:].mean() == pytest.approx(1.0, abs=0.06)


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


def test_a_name_alone_and_one_share_for_all(counts):
    """Noisy genes have the noise of all on an instrument; genes in other units stay as they are.

    Of few molecules fewer genes are trusted, and all that can be kept is on that scale.
    """
    here, _ = counts

    def ranks(platform=None, **options):
        pp.select_genes(here, **({"n_genes": 40, "n_comps": 5} | options), platform=platform)
        return here.var["glfs_rank"].fillna(0).to_list()

    plain, preserved = ranks(), here.uns["glfs"]["preserved"]
    assert ranks(Platform(genes=list(here.var_names))) == ranks(Platform(spillover=0.2)) == plain
    ranks(Platform(efficiency=0.1))
    assert here.uns["glfs"]["preserved"][-1] == pytest.approx(1.0)
    assert here.uns["glfs"]["preserved"][9] < preserved[9]
    assert ranks(Platform("imager")) == ranks(Platform(efficiency=1.0)) != plain
    ranks(Platform("imager"), n_genes=10)
    evaluation = tl.evaluate_panel(here, measures="preserved", inplace=False)
    assert measured(evaluation)["value"]["preserved"] == pytest.approx(
        here.uns["glfs"]["preserved"][-1]
    )
    pp.structure(here, n_comps=5, standardize="unit", key_added="unit")
    for options in ({"method": "variance"}, {"use_rep": "unit", "n_comps": 50}):
        assert ranks(Platform("imager"), **options) == ranks(**options)


def test_cells_of_the_platform_show_how_clear_genes_are_there(counts):
    """Counts and their logarithms say the same, and a record of the selection says it again."""
    here, there = counts
    rng = np.random.default_rng(1)
    noisy = set(here.var_names[:20])
    values = there.X.toarray()
    values[:, :20] = rng.permuted(values[:, :20], axis=0)
    there.X = sparse.csr_array(values)
    pp.select_genes(here, 8, n_comps=5, platform=Platform(efficiency=there))
    assert not noisy & set(chosen(here))
    assert here.var["glfs_signal"][:20].median() < here.var["glfs_signal"][20:].median() / 5
    assert here.uns["glfs"]["params"]["platform"]["signal"] == "glfs_signal"
    again = here.copy()
    pp.select_genes(again, **request_of(here, "glfs").arguments())
    assert (again.var["glfs_rank"] == here.var["glfs_rank"]).all()
    table = pd.DataFrame({"efficiency": 1.0, "signal": here.var["glfs_signal"]}, here.var_names)
    pp.select_genes(again, 8, n_comps=5, platform=Platform(efficiency=table))
    assert (again.var["glfs_rank"] == here.var["glfs_rank"]).all()
    pp.select_genes(again, 8, n_comps=5, platform=Platform(efficiency=raw_of(there)))
    assert not noisy & set(chosen(again))


def test_cells_of_the_platform_may_stay_in_a_file(counts, tmp_path):
    """Counts are seen from the first cell on: empty cells do not hide those of others."""
    here, there = counts
    there.X = there.X.expm1().rint().toarray()
    there.write_h5ad(tmp_path / "there.h5ad")
    backed = ad.read_h5ad(tmp_path / "there.h5ad", backed="r")
    after_empty = ad.AnnData(np.vstack([np.zeros((300, 40)), there.X]), var=there.var)
    signals = []
    for cells in (there, backed, after_empty):
        pp.select_genes(here, 8, n_comps=5, platform=Platform(efficiency=cells))
        signals.append(here.var["glfs_signal"])
    np.testing.assert_array_equal(signals[1], signals[0])
    np.testing.assert_allclose(signals[2], signals[0])
    table = tl.estimate_efficiency(raw_of(here), backed)
    np.testing.assert_allclose(table["signal"], signals[0])
    backed.file.close()


def test_what_the_platform_does_not_show_is_said(counts, caplog):
    """Few cells show no structure, as in a table only efficiencies are known; and blind genes."""
    here, there = counts
    few = there[np.linspace(0, 599, FEWEST_CELLS - 1, dtype=int)].copy()
    pp.select_genes(here, 8, n_comps=5, platform=Platform(efficiency=few))
    assert "glfs_signal" not in here.var
    assert "glfs_efficiency" in here.var
    assert f"fewer than {FEWEST_CELLS} cells" in caplog.text
    pp.select_genes(here, 8, n_comps=5, platform=Platform(efficiency=there[:, :5].copy()))
    assert "has 5 of 40 genes" in caplog.text
    assert "blind to genes of the panel" in caplog.text


def test_a_fault_of_its_cells_is_not_one_of_the_data(counts):
    here, there = counts
    missing, negative, twice = there.copy(), there.copy(), there.copy()
    missing.X.data[3] = np.nan
    negative.X.data -= 1.0
    twice.var_names = ["g0", *there.var_names[:-1]]
    for cells in (missing, negative, there[:0].copy(), twice, ad.AnnData(np.ones((3, 2)))):
        with pytest.raises((InvalidValue, NotFound), match=r"^(In )?`?efficiency"):
            pp.select_genes(here, 5, n_comps=5, platform=Platform(efficiency=cells))
    assert not len(here.var.columns)


def test_only_genes_with_probes_are_selected(counted, tmp_path):
    pp.select_genes(counted, 10)
    best = chosen(counted)
    rest = [name for name in counted.var_names if name not in best]
    probes = dict.fromkeys(best, 2) | dict.fromkeys(rest, 8) | {"elsewhere": 8}
    names, numbers = tmp_path / "orderable.csv", tmp_path / "probes.csv"
    names.write_text("Gene symbol\n" + "\n".join(rest), encoding="utf-8")
    lines = [f"{gene},,{number}," for gene, number in probes.items()]
    numbers.write_text("\n".join(["Gene,Ensembl ID,Probe sets,Force", *lines]), encoding="utf-8")
    counted.var["known"] = ~counted.var_names.isin(best)
    counted.var["n_probes"] = pd.Series(probes)
    pp.select_genes(counted, 10, exclude=best, key_added="expected")
    for platform_of in (
        Platform(genes=rest),
        Platform(genes=probes, min_probes=3),
        Platform(genes=str(names)),
        Platform(genes=str(numbers), min_probes=3),
        Platform(genes="known"),
        Platform(genes="n_probes", min_probes=3),
    ):
        pp.select_genes(counted, 10, platform=platform_of, key_added="a")
        assert chosen(counted, "a") == chosen(counted, "expected")
    with refused(InvalidValue, "include"):
        pp.select_genes(counted, 10, include=best[0], platform=Platform(genes=rest))
    table = tl.extend_panel(
        counted, best, len(best) + 5, platform=Platform(genes=rest), inplace=False
    )
    assert len(table) == 5
    evaluation = tl.evaluate_panel(counted, best, platform=Platform(genes=rest), inplace=False)
    assert not evaluation["genes"]["orderable"].any()
    assert set(evaluation["genes"]["gene"]) == set(best)
    shares = [  # what cannot be ordered is measured
        measured(tl.evaluate_panel(counted, best, platform=seen, inplace=False))["value"][
            "preserved"
        ]
        for seen in (Platform(efficiency=0.5), Platform(genes=rest, efficiency=0.5))
    ]
    assert shares[0] == shares[1] > 0


def table_of(column):
    return pd.DataFrame({column: [1.0]}, ["LYZ"])


REFUSED = [
    ({"genes": "nowhere"}, NotFound, "platform"),
    ({"genes": ["NOT1", "NOT2"]}, NotFound, "platform"),
    ({"genes": [3]}, InvalidType, "platform"),
    ({"genes": ["LYZ"], "min_probes": 2}, InvalidValue, "min_probes"),
    ({"genes": ["LYZ"]}, InvalidValue, "n_genes"),
    ({"efficiency": "nope"}, NotFound, "efficiency"),
    *(
        ({"efficiency": given}, InvalidValue, "efficiency")
        for given in (np.inf, -0.1, {"LYZ": 0.5}, table_of("x"), table_of("efficiency"))
    ),
    ({"efficiency": 0.5, "spread": -1.0}, InvalidValue, "spread"),
    ({"off_target": 1.5}, InvalidValue, "off_target"),
    # a platform checks itself
    ({"genes": {"LYZ": 3}}, InvalidValue, "platform"),
    ({"min_probes": 3}, InvalidValue, "min_probes"),
    ({"spread": 0.3}, InvalidValue, "spread"),
    ({"max_off_target": 0.3}, InvalidValue, "max_off_target"),
    ({"codebook": {"A": "01", "B": "011"}}, InvalidValue, "codebook"),
    ({"codebook": {"A": "021"}}, InvalidValue, "codebook['A']"),
    ({"codebook": pd.DataFrame({"b": [2]}, ["A"])}, InvalidValue, "codebook"),
    ({"codebook": "no.csv"}, FileMissing, "codebook"),
]


def test_platforms_that_cannot_be_are_refused(counted, unchanged):
    pp.structure(counted, n_comps=5, standardize="unit", key_added="unit")
    counted.var = counted.var.assign(none=0.0, hardly=1e-200, always=1.0)

    def select(**given):
        pp.select_genes(counted, 5, platform=Platform(**given))

    unknown = {"efficiency": dict.fromkeys([*counted.var_names, "NoGene"], 0.5)}
    with unchanged(counted):
        assert not_refused(select, [*REFUSED, (unknown, NotFound, "efficiency")]) == []
        for options in ({"use_rep": "unit"}, {"objective": "exact"}):
            with refused(InvalidValue, "platform"):
                pp.select_genes(counted, 5, platform=Platform(efficiency=0.5), **options)
    nothing = [{"efficiency": value} for value in (0.0, 1e-200, "none", "hardly")]
    nothing += [{"failure": value} for value in (1.0, "always")]
    assert not_refused(select, [(given, InvalidValue, "platform") for given in nothing]) == []


def test_a_codebook_is_read_without_its_blanks(counted, tmp_path):
    file = tmp_path / "codebook.csv"
    genes = list(counted.var_names[:30])
    rows = [f"{gene},ENST{place},merfish,1,0,1" for place, gene in enumerate(genes)]
    head = ["# panel: x", "name,id,barcodeType,b1,b2,b3"]
    file.write_text("\n".join([*head, *rows, "Blank-1,,merfish,0,1,1"]), encoding="utf-8")
    pp.select_genes(counted, 5, platform=Platform(codebook=str(file)), key_added="a")
    file.unlink()  # what is recorded holds the codewords
    recorded = request_of(counted, "a").platform
    assert recorded.codebook == dict.fromkeys(genes, "101")
    file.write_text("LYZ\n", encoding="utf-8")
    with refused(InvalidValue, "codebook"):
        pp.select_genes(counted, 5, platform=Platform(codebook=str(file)))


def test_loads_of_bits_hold_on_the_platform(counted):
    codebook = codewords(counted)
    efficiency = pd.Series(np.linspace(0.2, 2.0, counted.n_vars), counted.var_names)
    platform = Platform("imager", efficiency=efficiency.to_dict(), codebook=codebook)
    means = counted.layers["counts"].mean(axis=0) * efficiency.to_numpy()

    def loads(key):
        return codebook.to_numpy().T @ (means * counted.var[f"{key}_selected"].to_numpy())

    pp.select_genes(counted, 12, platform=platform, key_added="free")
    most = float(loads("free").max() / 2)
    limits = Limits(total_counts={"bit": most}, counts_layer="counts")
    pp.select_genes(counted, 12, platform=platform, limits=limits)
    assert loads("glfs").max() <= most * (1 + 1e-9)
    assert 0.5 < counted.uns["glfs"]["optimality"][-1] <= 1
    assert counted.uns["glfs"]["preserved"][-1] <= counted.uns["free"]["preserved"][-1]
    evaluation = tl.evaluate_panel(counted, counts_layer="counts", measures="counts", inplace=False)
    np.testing.assert_allclose(evaluation["forecast"]["counts_per_bit"]["counts"], loads("glfs"))
    assert measured(evaluation)["value"]["counts_on_platform"] == pytest.approx(
        loads("glfs").sum() / 2
    )
    with refused(InvalidValue, "total_counts['bit']"):
        pp.select_genes(counted, 12, limits=limits)


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
        max_off_target=0.25,
        codebook=codewords(counted),
    )
    limits = Limits(
        total_counts={"bit": 30.0, "type": {"CD34+": 500.0}},
        counts_layer="counts",
        expected_counts={"LYZ": 5.0},
        expression={"cells": (0.02, None)},
        groups={"hla": ["HLA-DRA", "HLA-DRB1", "HLA-DPB1"], "a/b": ["CD79A", "CD79B"]},
        per_group=(None, 1),
        per_type=1,
        groupby=LABELS,
        cost=dict(zip(counted.var_names, np.arange(counted.n_vars) % 3 + 1.0, strict=True)),
        budget=40,
    )
    pp.select_genes(counted, 12, platform=platform, limits=limits)
    counted.write_h5ad(tmp_path / "x.h5ad")
    again = ad.read_h5ad(tmp_path / "x.h5ad")
    recorded = request_of(again, "glfs").arguments()
    assert recorded["limits"] == limits
    assert recorded["platform"].codebook == platform.codebook
    assert recorded["platform"].failure == platform.failure
    pp.select_genes(again, **(recorded | {"key_added": "b"}))
    assert (again.var["b_rank"].fillna(0) == again.var["glfs_rank"].fillna(0)).all()


def test_spread_costs(counted):
    pp.select_genes(counted, 10, platform=Platform(efficiency=0.5, spread=1.0, failure=0.1))
    selection = counted.uns["glfs"]
    assert selection["preserved_on_platform"][-1] < selection["preserved"][-1]
    assert 0 < selection["optimality"][-1] <= 1
    evaluation = tl.evaluate_panel(counted, "glfs", measures="preserved_on_platform", inplace=False)
    there = measured(evaluation).loc["preserved_on_platform"]
    assert there["value"] == pytest.approx(selection["preserved_on_platform"][-1])
    assert there["low"] <= there["high"]


def test_off_target_shares_cost(counted):
    pp.select_genes(counted, 8)
    first = chosen(counted)
    platform = Platform(off_target=dict.fromkeys(first, 0.999))
    pp.select_genes(counted, 8, platform=platform, key_added="cost")
    assert not set(first) & set(chosen(counted, "cost"))
    platform = Platform(off_target=dict.fromkeys(first, 0.3), max_off_target=0.2)
    pp.select_genes(counted, 8, platform=platform, key_added="out")
    assert not set(first) & set(chosen(counted, "out"))


def test_genes_that_the_reference_lacks_count_in_limits(counted):
    """Silent genes are added to the reference, and are in the panel from the start."""
    new = ["NEW1", "NEW2"]
    nothing = sparse.csr_matrix((counted.n_obs, 2))
    silent = ad.AnnData(nothing, counted.obs[[]], pd.DataFrame(index=new))
    silent.layers["counts"] = nothing.toarray()
    whole = ad.concat([counted, silent], axis=1, merge="first")
    of_counts = {"counts_layer": "counts", "expected_counts": dict.fromkeys(new, 12.0)}
    limits = Limits(
        total_counts={"cell": 30.0},
        groups={"new": [*new, "LYZ"]},
        per_group=2,
        cost=dict.fromkeys(whole.var_names, 1.0) | dict.fromkeys(new, 3.0),
        budget=14.0,
        **of_counts,
    )
    pp.select_genes(whole, include=new, limits=limits)
    panel = chosen(whole)
    assert set(new) < set(panel)
    assert "LYZ" not in panel
    assert len(panel) <= 10
    total = whole[:, [name for name in panel if name not in new]].layers["counts"]
    assert total.sum(axis=1).mean() <= 6.0 + 1e-9
    with refused(InvalidValue, "include"):
        limits = Limits(total_counts={"cell": 20.0}, **of_counts)
        pp.select_genes(whole, include=new, limits=limits)


def test_the_forecast_of_a_panel(counted):
    thinned = counted.copy()
    rng = np.random.default_rng(0)
    thinned.layers["counts"] = rng.binomial(counted.layers["counts"].astype(int), 0.2).astype(float)
    thinned = thinned[:, :500].copy()
    layers = {"counts_layer": "counts", "spatial_layer": "counts"}
    table = tl.estimate_efficiency(counted, thinned, LABELS, **layers)
    panel = ["LYZ", "CD79A", "NKG7", "CD3D", "FCER1A", "GNLY"]
    given = {"counts_layer": "counts", "measures": ["labels", "forecast"]}
    tl.evaluate_panel(counted, panel, LABELS, platform=Platform(efficiency=table), **given)
    entry = counted.uns["glfs_evaluation"]
    forecast = entry["forecast"]["per_label"]
    assert list(forecast["label"]) == list(entry["per_label"]["label"])
    assert (forecast["recall_low"] <= forecast["recall_high"]).all()
    values = measured(entry)["value"]
    assert values["accuracy_on_platform"] < values["accuracy"]


def test_spillover_is_forecast_and_selects_nothing(counted):
    for efficiency in (None, 0.4):
        spilt = Platform(efficiency=efficiency, spillover=0.3)
        whole = Platform(efficiency=efficiency) if efficiency else None
        pp.select_genes(counted, 10, platform=spilt, key_added="spilt")
        pp.select_genes(counted, 10, platform=whole, key_added="whole")
        np.testing.assert_array_equal(counted.var["spilt_rank"], counted.var["whole_rank"])
    given = {"labels": LABELS, "counts_layer": "counts", "measures": "forecast"}
    tl.evaluate_panel(counted, "spilt", **given)
    entry = counted.uns["spilt_evaluation"]
    plain = tl.evaluate_panel(counted, "whole", **given, inplace=False)
    spilt, whole = (one["forecast"] for one in (entry, plain))
    np.testing.assert_array_equal(
        spilt["per_label"]["recall_without_spillover"], whole["per_label"]["recall"]
    )
    values, without = (measured(one)["value"] for one in (entry, plain))
    assert values["accuracy_on_platform"] < values["accuracy_without_spillover"]
    assert values["accuracy_without_spillover"] == without["accuracy_on_platform"]
    assert "leaks" not in whole
    assert spilt["leaks"]["share"].is_monotonic_decreasing
    assert values["mecr_on_platform"] > values["mecr_reference"]


def test_neighbours_are_read_before_any_work(counted, unchanged, caplog):
    spatial, panel = counted.copy(), ["LYZ", "CD79A"]
    platform_of = Platform(spillover=0.1, spillover_to=spatial)
    given = {"labels": LABELS, "platform": platform_of, "counts_layer": "counts"}
    given |= {"measures": "forecast"}
    with unchanged(counted), refused(NotFound, "spillover_to"):
        tl.evaluate_panel(counted, panel, **given)
    spatial.obsm["spatial"] = spatial.obsm["X_umap"]
    evaluation = tl.evaluate_panel(counted, panel, **given, inplace=False)
    assert len(evaluation["forecast"]["leaks"])
    caplog.clear()
    evaluation = tl.evaluate_panel(  # nothing is forecast that is not asked for
        counted, panel, platform=Platform(spillover=0.1), inplace=False
    )
    assert "forecast" not in evaluation
    assert "spillover" in caplog.text
    with refused(InvalidValue, "measures"):
        tl.evaluate_panel(counted, panel, platform=Platform(spillover=0.1), measures="forecast")
