"""Genes that can replace a gene of a panel."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from glfs_bio import Limits, pp, tl
from glfs_bio.errors import NotFound
from glfs_bio.tl._panel import find

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]


def test_substitutes(cells):
    """The best first, in groups; weak ones are listed and flagged."""
    tl.substitutes(cells, PANEL)
    entry = cells.uns["glfs_substitutes"]
    table, groups = entry["table"], entry["groups"].set_index("gene")
    assert list(table["gene"].unique()) == PANEL
    for gene, rows in table.groupby("gene"):
        assert len(rows) == 3
        assert rows["substitution_score"].is_monotonic_decreasing
        assert not set(rows["substitute"]) & set(PANEL)
        strong = list(rows["substitute"][rows["acceptable"]])
        members = [name for name in groups.loc[gene, "substitutes"].split(", ") if name]
        assert len(members) == groups.loc[gene, "n_substitutes"]
        assert members[:3] == strong
        assert bool(strong) == (gene not in entry["irreplaceable"])
    assert (table["acceptable"] == (table["substitution_score"] >= 0.5)).all()
    first = table[table["place"] == 1].set_index("gene")
    assert first.loc["CD79A", "substitute"] in {"MS4A1", "CD79B", "CD74", "HLA-DRA", "HLA-DQA1"}
    why = tl.explain_panel(cells, PANEL, inplace=False).set_index("gene")
    for column in ("substitute", "substitution_score", "acceptable"):
        assert list(why[column]) == list(first.loc[why.index, column])
    swapped = ["CD3D", first.loc["LYZ", "substitute"], "NKG7", "CD79A"]
    after = tl.explain_panel(cells, swapped, inplace=False)["preserved"].iloc[-1]
    lost = first.loc["LYZ", "loss_with_substitute"]
    assert why["preserved"].iloc[-1] - after == pytest.approx(lost, rel=1e-6)


def test_what_adds_nothing_has_no_substitute(cells):
    """Nor has any gene where none is left."""
    pp.select_genes(cells, 10, include=["CD4"])
    tl.substitutes(cells)
    entry = cells.uns["glfs_substitutes"]
    blank = entry["table"].set_index("gene").loc["CD4"]
    assert (blank["substitute"], blank["place"]) == ("", 0)
    assert np.isnan(blank["substitution_score"])
    assert not blank["acceptable"]
    assert list(entry["needless"]) == ["CD4"]
    assert "CD4" not in entry["irreplaceable"]
    every = list(cells.var_names)
    table = tl.explain_panel(cells, PANEL, exclude=every, inplace=False)
    assert (table["substitute"] == "").all()
    none = tl.substitutes(cells, PANEL, exclude=every, min_score=0.0, inplace=False)
    assert list(none["gene"]) == PANEL
    assert (none["place"] == 0).all()
    with refused(NotFound, "genes") as caught:
        tl.substitutes(cells, PANEL, ["CD79Ax", "GNLY", "CD79A"])
    assert "CD79Ax" in caught.value.problem
    assert "GNLY" in caught.value.problem
    assert "CD79A" not in caught.value.problem.replace("CD79Ax", "")


def test_what_could_not_be_selected_is_no_substitute(cells):
    """Because it is excluded, or over a limit."""
    cells.layers["counts"] = np.round(np.expm1(cells.X.toarray()))
    means = cells.to_df("counts").mean()
    pp.select_genes(cells, 12)
    barred = list(tl.substitutes(cells, n=1, inplace=False)["substitute"].unique())
    most = 0.6 * float(means[cells.var["glfs_selected"]].sum())
    limits = Limits(total_counts={"cell": most}, counts_layer="counts")
    pp.select_genes(cells, 12, limits=limits, exclude=barred)
    panel = list(cells.var_names[cells.var["glfs_selected"]])
    limited = tl.substitutes(cells, "glfs", n=700, inplace=False)
    free = tl.substitutes(cells, panel, n=700, inplace=False)
    offered = limited[limited["place"] > 0]
    assert 0 < len(offered) < (free["place"] > 0).sum()
    assert not set(offered["substitute"]) & set(barred)
    for row in offered.itertuples():
        swapped = [row.substitute if gene == row.gene else gene for gene in panel]
        assert means[swapped].sum() <= most * (1 + 1e-6)


def test_joint_substitutes_may_come_all_at_once(cells):
    """Those that are marked, one for each gene, lose no more than is said together."""
    pp.select_genes(cells, 25)
    tl.substitutes(cells, n=5)
    entry = cells.uns["glfs_substitutes"]
    joint = entry["table"][entry["table"]["joint"]]
    assert 0 < len(joint) < len(entry["table"])
    assert joint["substitute"].is_unique
    assert 0.0 <= entry["joint_loss"] <= 0.005
    panel = list(cells.var_names[cells.var["glfs_selected"]])
    criterion = find(cells, "glfs").basis.criterion
    before = cells.uns["glfs"]["preserved"][-1]
    of_genes = {gene: list(rows["substitute"]) for gene, rows in joint.groupby("gene")}
    for place in range(max(map(len, of_genes.values()))):
        come = {gene: names[min(place, len(names) - 1)] for gene, names in of_genes.items()}
        swapped = cells.var_names.get_indexer([come.get(gene, gene) for gene in panel])
        assert criterion.preserved(swapped)[-1] >= before * (1 - entry["joint_loss"]) - 1e-9
    # must-haves have some too
    some = joint["gene"].iloc[0]
    pp.select_genes(cells, 25, include=[some])
    assert tl.substitutes(cells, "glfs", [some], inplace=False)["joint"].any()
