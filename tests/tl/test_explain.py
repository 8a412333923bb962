"""Every gene of a panel is explained."""

from __future__ import annotations

import re
import warnings

import anndata as ad
import numpy as np
import pytest

from glfs_bio import Limits, Platform, pp, tl
from glfs_bio._anndata import columns, expression
from glfs_bio.errors import Caution
from glfs_bio.tl._explain import ANY_GENE
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
        why = tl.explain_panel(cells, PANEL, LABELS, n_labels=20, inplace=False)
        more = tl.extend_panel(cells, ["LYZ", "NKG7"], 6, labels=LABELS, inplace=False)
    named = [
        (gene, label)
        for gene, text in zip(why["gene"], why["supports"], strict=True)
        for label in re.findall(r"(?:^|, )(.+?) \(\d+ %\)", text)
    ]
    assert len(named) > 4
    for column, share in (("supports", r"\((\d+) %\)"), ("expressed_in", r" (\d+) % \(")):
        for text in why[column]:
            shares = [int(digits) for digits in re.findall(share, text)]
            assert shares == sorted(shares, reverse=True)
            assert not shares or min(shares) >= 10
    for gene, label in [*named, *zip(more["gene"], more["supports"], strict=True)]:
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


def test_must_haves_that_add_nothing_are_named(cells, caplog):
    """Any gene may stand where one adds nothing, unless it had to be in."""
    pp.select_genes(cells, 10, include=["CD4", "CD3D"])
    caplog.clear()
    table = tl.explain_panel(cells, "glfs", LABELS, inplace=False).set_index("gene")
    assert table.loc["CD4", "role"] == "must-have, adds nothing"
    assert table.loc["CD3D", "role"].startswith("must-have, ")
    assert not table["role"].drop(["CD4", "CD3D"]).str.contains("must-have").any()
    assert (table.loc["CD4", ["substitute", "supports", "alternatives"]] == "").all()
    (note,) = [message for message in caplog.messages if "add nothing" in message]
    assert "CD4" in note
    assert "CD3D" not in note
    listed = tl.explain_panel(cells, list(table.index), inplace=False).set_index("gene")
    assert listed.loc["CD4", "alternatives"] == ANY_GENE


def test_without_labels_and_with_negative_values(cells):
    table = tl.explain_panel(cells, PANEL, tolerance=0.0, inplace=False)
    assert table["role"].str.startswith("axis ").all()
    assert "expressed_in" not in table
    assert table["expressed"].between(0, 1).all()
    assert (table["alternatives"] == "").all()
    cells.X = cells.X.toarray() - cells.X.toarray().mean(axis=0)
    with pytest.warns(Caution, match="scaled"):
        scaled = tl.explain_panel(cells, PANEL, LABELS, inplace=False)
    assert scaled["expressed"].isna().all()
    assert (scaled["expressed_in"] == "").all()


def alternatives(table):
    """Genes that may stand in each place that is free."""
    places = zip(table["gene"], table["alternatives"], strict=True)
    return {gene: text.split(", ") for gene, text in places if text}


def worst_of(cells, panel, free, *, n=60):
    """Least that panels with random choices for all free places at once preserve."""
    criterion = find(cells, "glfs").basis.criterion
    rng = np.random.default_rng(0)
    others = [name for name in cells.var_names if name not in panel]
    least = 1.0
    for _ in range(n):
        chosen = dict.fromkeys(panel)
        for gene, may in free.items():
            del chosen[gene]
            chosen[str(rng.choice(others if may == [ANY_GENE] else may))] = None
        genes = cells.var_names.get_indexer(list(chosen))
        least = min(least, criterion.preserved(genes)[-1])
    return least


@pytest.mark.parametrize("tolerance", [0.005, 0.03])
@pytest.mark.parametrize("batch_key", [None, "batch"])
def test_alternatives_may_come_all_at_once(cells, batch_key, tolerance):
    cells.obs["batch"] = np.tile(["a", "b"], 350)
    pp.select_genes(cells, 15, include=["CD4", "CD3D"], exclude=["LYZ"], batch_key=batch_key)
    tl.explain_panel(cells, tolerance=tolerance)
    entry = cells.uns["glfs_explanation"]
    free = alternatives(entry["table"])
    assert entry["tolerance"] == tolerance
    assert 0.0 <= entry["joint_loss"] <= tolerance
    assert free or tolerance < 0.01
    panel = list(entry["table"]["gene"])
    listed = [gene for may in free.values() for gene in may if may != [ANY_GENE]]
    assert len(listed) == len(set(listed))
    assert not set(listed) & {*panel, "LYZ"}
    assert not set(free) & {"CD4", "CD3D"}
    now = cells.uns["glfs"]["preserved"][-1]
    assert worst_of(cells, panel, free) >= now * (1.0 - entry["joint_loss"]) - 1e-9


def test_alternatives_are_within_limits(cells):
    cells.var["cost"] = np.random.default_rng(0).integers(1, 4, cells.n_vars).astype(float)
    cells.var["kind"] = np.where(np.arange(cells.n_vars) % 2 == 0, "even", "odd")
    limits = Limits(groups="kind", per_group={"even": (7, 9)}, budget=30, cost="cost")
    pp.select_genes(cells, 15, limits=limits)
    offered = alternatives(tl.explain_panel(cells, tolerance=0.1, inplace=False))
    cost, kind = cells.var["cost"], cells.var["kind"]
    assert offered
    for gene, may in offered.items():
        assert may != [ANY_GENE]
        assert (cost[may] <= cost[gene]).all()
        assert (kind[may] == kind[gene]).all()


def test_what_a_panel_is_not_evaluated_by_has_no_alternatives(cells):
    cells.obs["batch"] = np.tile(["a", "b"], 350)
    for asked in ({"batch_key": "batch", "across": "worst"}, {"platform": Platform(failure=0.1)}):
        pp.select_genes(cells, 30, **asked)
        tl.explain_panel(cells, tolerance=0.1)
        entry = cells.uns["glfs_explanation"]
        assert (entry["table"]["alternatives"] == "").all()
        assert np.isnan(entry["joint_loss"])


def test_certificates_are_those_of_the_selection(cells):
    names = ["certificate", "certificate_within"]
    pp.select_genes(cells, 12)
    table = tl.explain_panel(cells, inplace=False).set_index("gene")
    for name in names:
        assert (table[name] == cells.var[f"glfs_{name}"].astype(str)[table.index]).all()
    # A gene of every panel within the tolerance has no place that is free.
    needed = table["certificate_within"] == "every"
    assert (table["alternatives"][needed] == "").all()
    for other in (
        tl.explain_panel(cells, list(table.index), inplace=False),
        tl.explain_panel(cells, preserve=LABELS, inplace=False),
    ):
        assert not {*names} & {*other}
    pp.select_genes(cells, 12, method="variance")
    assert not {*names} & {*tl.explain_panel(cells, inplace=False)}
