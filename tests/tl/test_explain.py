"""Every gene of a panel is explained, what can replace it, and why another is not in it."""

from __future__ import annotations

import re
import warnings

import anndata as ad
import numpy as np
import pytest
from refusals import refused

from glfs_bio import Limits, Platform, pp, tl
from glfs_bio._anndata import columns, expression
from glfs_bio.errors import Caution, NotFound
from glfs_bio.tl._panel import find

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]
LABELS = "bulk_labels"


def test_support_role_and_expression(cells):
    tl.explain_panel(cells, PANEL, LABELS)
    entry = cells.uns["glfs_explanation"]
    table, numbers = entry["table"].set_index("gene"), entry["expression"]
    assert (table["loss"] > 0).all()
    np.testing.assert_allclose(entry["support"].sum(axis=1), 1.0)
    assert entry["labels"][entry["support"][PANEL.index("CD79A")].argmax()] == "CD19+ B"
    assert "CD19+ B" in table.loc["CD79A", "supports"]
    assert table.loc["CD79A", "role"] == "marker of CD19+ B"
    assert table.loc["CD79A", "expressed_in"].startswith("CD19+ B 99 % (")
    values = cells[:, "CD79A"].to_df()["CD79A"]
    of_b = cells.obs[LABELS] == "CD19+ B"
    row = numbers.set_index(["gene", "label"]).loc[("CD79A", "CD19+ B")]
    assert row["share"] == pytest.approx((values[of_b] > 0).mean())
    fold = np.expm1(values[of_b]).mean() / np.expm1(values[~of_b]).mean()
    assert row["fold"] == pytest.approx(fold, rel=1e-4)
    assert table.loc["CD79A", "expressed"] == pytest.approx((values > 0).mean())
    assert len(numbers) == len(PANEL) * cells.obs[LABELS].nunique()


@pytest.mark.parametrize("scaled", [False, True])
def test_absence_is_no_support(cells, scaled):
    """The labels that a gene supports express it more, or more often, than other cells.

    They are those with a tenth at least, the largest first.
    """
    if scaled:
        cells.X = cells.X.toarray() - cells.X.toarray().mean(axis=0)
    values, labels = cells.to_df(), cells.obs[LABELS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        why = tl.explain_panel(cells, PANEL, LABELS, inplace=False)
    named = [
        (gene, label)
        for gene, text in zip(why["gene"], why["supports"], strict=True)
        for label in re.findall(r"(?:^|, )(.+?) \(\d+ %\)", text)
    ]
    assert len(named) >= 4
    for column, share in (("supports", r"\((\d+) %\)"), ("expressed_in", r" (\d+) % \(")):
        for text in why[column]:
            shares = [int(digits) for digits in re.findall(share, text)]
            assert shares == sorted(shares, reverse=True)
            assert not shares or min(shares) >= 10
    for gene, label in named:
        inside, rest = values.loc[labels == label, gene], values.loc[labels != label, gene]
        often = not scaled and (inside > 0).mean() > (rest > 0).mean()
        mean = inside.mean() > rest.mean() or np.expm1(inside).mean() > np.expm1(rest).mean()
        assert often or mean, (gene, label)


@pytest.mark.parametrize("counted", [False, True])
def test_a_fold_compares_means_without_logarithms(counted):
    """A few cells with many counts outweigh many with one, whatever their logarithms say."""
    counts = np.random.default_rng(0).poisson(1.0, (60, 8)).astype(float)
    counts[:30, 0], counts[30:, 0] = 1.0, np.where(np.arange(30) < 6, 40.0, 0.0)
    adata = ad.AnnData(counts if counted else np.log1p(counts))
    adata.obs["kind"] = np.repeat(["a", "b"], 30)
    values = expression.of_genes(adata, np.array([0, 3]), columns.labels(adata, "kind"), None)
    np.testing.assert_allclose(values.folds[0], [1 / 8, 8])
    assert values.marker_of(0) == ""


def test_must_haves_are_named_and_not_indispensable(cells, caplog):
    pp.select_genes(cells, 10, include=["CD4", "CD3D"])
    caplog.clear()
    tl.explain_panel(cells, "glfs", LABELS)
    entry = cells.uns["glfs_explanation"]
    table = entry["table"].set_index("gene")
    assert table.loc["CD4", "role"] == "must-have, adds nothing"
    assert table.loc["CD3D", "role"].startswith("must-have, ")
    assert not table["role"].drop(["CD4", "CD3D"]).str.contains("must-have").any()
    assert (table.loc["CD4", ["substitute", "supports"]] == "").all()
    assert "CD4" not in set(entry["substitutes"]["gene"])
    for name in ("certificate", "certificate_within"):
        assert set(table.index[table[name] == "must-have"]) == {"CD4", "CD3D"}
        assert (cells.var.loc[["CD4", "CD3D"], f"glfs_{name}"] == "every").all()
    (note,) = [message for message in caplog.messages if "add nothing" in message]
    assert "CD4" in note
    assert "CD3D" not in note


def test_without_labels_and_with_negative_values(cells):
    table = tl.explain_panel(cells, PANEL, inplace=False)
    assert table["role"].str.startswith("axis ").all()
    assert "expressed_in" not in table
    assert table["expressed"].between(0, 1).all()
    cells.X = cells.X.toarray() - cells.X.toarray().mean(axis=0)
    with pytest.warns(Caution, match="scaled"):
        scaled = tl.explain_panel(cells, PANEL, LABELS, inplace=False)
    assert scaled["expressed"].isna().all()
    assert (scaled["expressed_in"] == "").all()


def test_certificates_are_those_of_the_selection(cells):
    names = ["certificate", "certificate_within"]
    pp.select_genes(cells, 12)
    table = tl.explain_panel(cells, inplace=False).set_index("gene")
    for name in names:
        assert (table[name] == cells.var[f"glfs_{name}"].astype(str)[table.index]).all()
    for other in (
        tl.explain_panel(cells, list(table.index), inplace=False),
        tl.explain_panel(cells, preserve=LABELS, inplace=False),
    ):
        assert not {*names} & {*other}
    pp.select_genes(cells, 12, method="variance")
    assert not {*names} & {*tl.explain_panel(cells, inplace=False)}


def test_substitutes(cells):
    """The best first; weak ones are listed and flagged, and any one may be asked for alone."""
    tl.explain_panel(cells, PANEL, n_substitutes=5)
    entry = cells.uns["glfs_explanation"]
    table, why = entry["substitutes"], entry["table"].set_index("gene")
    assert list(table["gene"].unique()) == PANEL
    for _, rows in table.groupby("gene"):
        assert list(rows["rank"]) == [1, 2, 3, 4, 5]
        assert rows["substitution_score"].is_monotonic_decreasing
        assert not set(rows["substitute"]) & set(PANEL)
    assert (table["acceptable"] == (table["substitution_score"] >= 0.5)).all()
    first = table[table["rank"] == 1].set_index("gene")
    assert first.loc["CD79A", "substitute"] in {"MS4A1", "CD79B", "CD74", "HLA-DRA", "HLA-DQA1"}
    for column in first.columns.drop("rank"):
        assert list(why[column]) == list(first.loc[why.index, column])
    swapped = ["CD3D", first.loc["LYZ", "substitute"], "NKG7", "CD79A"]
    after = tl.explain_panel(cells, swapped, inplace=False)["preserved"].iloc[-1]
    lost = first.loc["LYZ", "loss_with_substitute"]
    assert why["preserved"].iloc[-1] - after == pytest.approx(lost, rel=1e-6)
    none = tl.explain_panel(cells, PANEL, exclude=list(cells.var_names), inplace=False)
    assert (none["substitute"] == "").all()
    assert not none["acceptable"].any()


def test_what_could_not_be_selected_is_no_substitute(cells):
    """Because it is excluded, or over a limit."""
    cells.layers["counts"] = np.round(np.expm1(cells.X.toarray()))
    means = cells.to_df("counts").mean()
    pp.select_genes(cells, 12)
    barred = list(tl.explain_panel(cells, inplace=False)["substitute"].unique())
    most = 0.6 * float(means[cells.var["glfs_selected"]].sum())
    limits = Limits(total_counts={"cell": most}, counts_layer="counts")
    pp.select_genes(cells, 12, limits=limits, exclude=barred)
    panel = list(cells.var_names[cells.var["glfs_selected"]])
    for key, genes in {"limited": "glfs", "free": panel}.items():
        tl.explain_panel(cells, genes, n_substitutes=700, key_added=key)
    offered = cells.uns["limited"]["substitutes"]
    assert 0 < len(offered) < len(cells.uns["free"]["substitutes"])
    assert not set(offered["substitute"]) & set(barred)
    for row in offered.itertuples():
        swapped = [row.substitute if gene == row.gene else gene for gene in panel]
        assert means[swapped].sum() <= most * (1 + 1e-6)


def test_the_worst_batch_counts_as_in_the_selection(cells):
    """Every share is of the batch of which least is preserved, by brute force."""
    cells.obs["half"] = np.where(np.arange(cells.n_obs) % 2, "a", "b")
    pp.select_genes(cells, 6, batch_key="half", across="worst")
    tl.explain_panel(cells, genes=["LYZ", "NKG7"])
    entry = cells.uns["glfs_explanation"]
    table = entry["table"].set_index("gene")
    np.testing.assert_allclose(table["loss"], cells.var.loc[table.index, "glfs_loss"])
    np.testing.assert_allclose(table["preserved"], cells.uns["glfs"]["preserved"])
    criterion = find(cells, "glfs", across=None).basis.criterion
    panel, now = list(table.index), table["preserved"].iloc[-1]

    def preserved(names):
        return criterion.preserved(cells.var_names.get_indexer(names))[-1]

    for row in entry["substitutes"].itertuples():
        rest = [gene for gene in panel if gene != row.gene]
        without, swapped = preserved(rest), preserved([*rest, row.substitute])
        assert row.loss_with_substitute == pytest.approx(now - swapped)
        both = preserved([*panel, row.substitute])
        again = preserved([*panel, row.gene])
        score = ((now - without) - (both - swapped)) / ((now - without) - (again - now))
        assert row.substitution_score == pytest.approx(score)
    for row in entry["genes"][~entry["genes"]["selected"]].itertuples():
        assert row.gain == pytest.approx(preserved([*panel, row.gene]) - now)


def standing(adata, genes, *args, **options):
    return tl.explain_panel(adata, *args, genes=genes, **options, inplace=False).set_index("gene")


def preserved(adata, panel):
    return tl.explain_panel(adata, panel, inplace=False)["preserved"].iloc[-1]


def test_genes_inside_and_outside(cells):
    pp.select_genes(cells, 8)
    ranks = cells.var["glfs_rank"]
    inside, outside = ranks.index[ranks == 2][0], ranks.index[ranks == 9][0]
    chosen = list(cells.var_names[cells.var["glfs_selected"]])
    table = standing(cells, [inside, outside])
    row = table.loc[outside]
    assert not row["selected"]
    assert row["rank"] == 9
    now = preserved(cells, chosen)
    assert row["gain"] == pytest.approx(preserved(cells, [*chosen, outside]) - now, rel=1e-6)
    assert np.isnan(row["loss"])
    swapped = [*(gene for gene in chosen if gene != row["replaces"]), outside]
    assert row["price"] == pytest.approx(now - preserved(cells, swapped), rel=1e-6)
    row = table.loc[inside]
    assert row["selected"]
    assert row["why_not"] == row["replaces"] == ""
    assert row["loss"] == pytest.approx(cells.var.loc[inside, "glfs_loss"])
    assert np.isfinite(row["r2"])
    assert inside not in row["predicted_by"]
    # a gene that would gain does not add less
    out = standing(cells, ["IGJ", "TYROBP", "CD8A"])
    assert (out["price"] < 0).tolist() == [True, True, False]
    assert out["why_not"].str.contains("next").tolist() == [True, True, False]
    assert out["why_not"].str.contains("adds less").tolist() == [False, False, True]


def test_what_predicts_it(cells, tmp_path):
    """As an evaluation says; the genes may be in a file."""
    tl.evaluate_panel(cells, PANEL)
    (tmp_path / "genes.txt").write_text("CST3\nCD3E\nCD79B\n")
    tl.explain_panel(cells, PANEL, "bulk_labels", genes=tmp_path / "genes.txt")
    entry = cells.uns["glfs_explanation"]
    table = entry["genes"].set_index("gene")
    assert list(entry["table"]["gene"]) == PANEL
    expected = cells.var.loc[table.index, "glfs_evaluation_r2"].to_numpy()
    assert table["r2"].to_numpy() == pytest.approx(expected)
    predictors = entry["predictors"].groupby("gene")
    for gene, best in {"CST3": "LYZ", "CD3E": "CD3D", "CD79B": "CD79A"}.items():
        assert table.loc[gene, "predicted_by"].startswith(best)
        assert predictors.get_group(gene)["predictor"].iloc[0] == best
        assert predictors.get_group(gene)["share"].sum() <= table.loc[gene, "r2"] + 1e-9
        assert "%" in table.loc[gene, "expressed_in"]
    assert set(entry["expression"]["gene"]) == {*PANEL, *table.index}
    with refused(NotFound, "genes") as caught:
        tl.explain_panel(cells, PANEL, genes=["LYZ", "P63"])
    assert "TP63" in str(caught.value)


def test_why_it_was_no_candidate(cells):
    cells.var["orderable"] = cells.var_names != "LYZ"
    cells.var["loud"] = cells.var_names.isin(["NKG7", "GNLY"])
    means = cells.to_df().mean()
    dense = cells.X.toarray()
    dense[:, cells.var_names.get_loc("CD8A")] = 0
    cells.X = dense
    limits = Limits(
        expression={"mean": 0.99 * float(means["FTL"])},
        groups={"T": ["CD3D", "CD3E"]},
        per_group=1,
    )
    pp.select_genes(
        cells,
        8,
        include=["CD3D"],
        exclude=["CD79A", "ribosomal", "loud", re.compile("^HLA-")],
        platform=Platform(genes="orderable"),
        limits=limits,
    )
    loud = means.drop([name for name in means.index if name.startswith(("RP", "HLA"))]).idxmax()
    ribosomal = next(name for name in cells.var_names if name.startswith("RPL"))
    words = {
        "CD79A": "by name",
        "NKG7": "column loud",
        ribosomal: "ribosomal",
        "HLA-DRA": "HLA-",
        "LYZ": "platform",
        loud: "expression['mean']",
        "CD3E": "per_group",
    }
    table = standing(cells, [*words])
    for gene, word in words.items():
        assert word in table.loc[gene, "why_not"], gene
    assert table["rank"].drop("CD3E").isna().all()
    assert "vary" in standing(cells, "CD8A", PANEL).loc["CD8A", "why_not"]
