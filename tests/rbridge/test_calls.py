"""Calls from R: the records and columns that Python writes, to the last digits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scanpy as sc

from glfs_bio import Limits, Platform, Preserve, io, pp, rbridge, tl
from glfs_bio.glfs2014 import Exact
from glfs_bio.rbridge import calls, values
from glfs_bio.rbridge.objects import record_for_r

EXAMPLE = Path(__file__).parents[2] / "r_bridge" / "examples" / "pbmc3k.R"
PANEL = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
GROUPS = "bulk_labels"
COST = {"CD79A": 3.0, "LYZ": 2.5}
#: Genes that a vendor has, by names of today, with their numbers of probes.
NAMES = "CD3D CD79A NKG7 LYZ FCER1A SEPTIN7 GNLY CD74 CST3 IL32 HLA-DRA FCGR3A LST1 S100A4 MS4A1"
VENDOR = pd.DataFrame({"symbol": NAMES.split(), "probe_count": [9, 1, *[9] * 13]})

#: The seed of Python, and what R makes of a record, for Python to read.
PLAIN = """
for (name in paste0("glfs_", c("evaluate_panel", "stability", "classify")))
    local({
        called <- getExportedValue("glfsbio", name)
        assign(name, function(...) called(..., random_state = 0), globalenv())
    })
glfs_plain <- function(x) {
    if (is(x, "DFrame")) glfsbio:::plain_table(x, rownames(x))
    else if (is.matrix(x)) glfsbio:::plain_dense(unname(x))
    else if (is.list(x)) glfsbio:::plain_list(lapply(x, glfs_plain))
    else if (is.character(x)) glfsbio:::plain_strings(x)
    else x
}
"""

#: A value of R, as it travels.
PLAIN_VALUE = "glfsbio:::packed(glfsbio:::plain_argument({}))"
#: R, and the same in Python: expression and call; keys of the record and prefixes of columns
CALLS = {
    "evaluate": (
        """glfs_evaluate_panel(x, panel, 'bulk_labels', counts_layer = 'counts', measures = 'all',
            platform = glfs_platform(failure = 0.1), domains = 'bulk_labels', spatial = 'UMAP')""",
        lambda adata: tl.evaluate_panel(
            adata,
            PANEL,
            GROUPS,
            counts_layer="counts",
            measures="all",
            platform=Platform(failure=0.1),
            domains=GROUPS,
            spatial="X_umap",
        ),
        "glfs_evaluation",
    ),
    "evaluate a selection": (
        """glfs_evaluate_panel(x, sizes = 5, key_added = 'ours', preserve = c(bulk_labels = 1),
            cell_weights = 'bulk_labels')""",
        lambda adata: tl.evaluate_panel(
            adata,
            "glfs",
            sizes=[5],
            key_added="ours",
            preserve=Preserve({GROUPS: 1}, cell_weights=GROUPS),
        ),
        "ours",
    ),
    "evaluate several": (
        """glfs_evaluate_panel(x, list(ours = 'glfs', theirs = panel, column = 'cd3',
            one = list('LYZ')), preserve = c('NKG7', 'GNLY', 'CST3'))""",
        lambda adata: tl.evaluate_panel(
            adata,
            {"ours": "glfs", "theirs": PANEL, "column": "cd3", "one": ["LYZ"]},
            preserve=["NKG7", "GNLY", "CST3"],
        ),
        "glfs_comparison",
    ),
    "extend": (
        """glfs_extend_panel(x, c(panel, 'nothing'), exclude = 'ribosomal',
            limits = glfs_limits(budget = 14, cost = cost))""",
        lambda adata: tl.extend_panel(
            adata,
            [*PANEL, "nothing"],
            limits=Limits(budget=14, cost=dict.fromkeys(adata.var_names, 1.0) | COST),
            exclude="ribosomal",
        ),
        "glfs_extended",
    ),
    "replace": (
        """glfs_extend_panel(glfs_structure(x, block = 'phase', key_added = 'own'),
            c(panel, 'nothing'), drop = c('LYZ', 'nothing'), dimred = 'own')""",
        lambda adata: (
            pp.structure(adata, batch_key="phase", key_added="own"),
            tl.extend_panel(
                adata,
                [*PANEL, "nothing"],
                drop=["LYZ", "nothing"],
                preserve=Preserve(use_rep="own"),
            ),
        ),
        "glfs_extended",
    ),
    "prove": (
        "glfs_prove_panel(x, panel, tolerance = 0.01, time_limit = 600)",
        lambda adata: tl.prove_panel(adata, PANEL, tolerance=0.01, time_limit=600.0),
        "glfs_proof",
    ),
    "explain": (
        """glfs_explain_panel(x, panel, 'bulk_labels', genes = 'CD3E', n_substitutes = 2,
            preserve = 'PCA')""",
        lambda adata: tl.explain_panel(
            adata, PANEL, GROUPS, genes=["CD3E"], n_substitutes=2, preserve="X_pca"
        ),
        "glfs_explanation",
    ),
    "limits": (
        """glfs_select_genes(x, 12, key_added = 'limited',
            exclude = c('mitochondrial', 'ribosomal', 'cd3'),
            platform = glfs_platform(failure = c(CD79A = 0.5), efficiency = 0.5),
            limits = glfs_limits(counts_layer = 'counts',
                total_counts = list(type = c('CD19+ B' = 60, 'CD56+ NK' = 40)),
                groups = list(one = 'CST3', hla = c('HLA-DRA', 'HLA-DRB1'),
                    'T cells' = c('CD8A', 'IL7R', 'LDHB'), B = c('CD79B', 'MS4A1')),
                per_group = list(one = 1, hla = 1, 'T cells' = c(1, Inf), B = 1),
                expression = list(counts = c(-Inf, 25)), groupby = 'bulk_labels',
                priority = c(LYZ = 2), per_type = 1))""",
        lambda adata: pp.select_genes(
            adata,
            12,
            key_added="limited",
            exclude=["mitochondrial", "ribosomal", "cd3"],
            platform=Platform(failure={"CD79A": 0.5}, efficiency=0.5),
            limits=Limits(
                counts_layer="counts",
                total_counts={"type": {"CD19+ B": 60, "CD56+ NK": 40}},
                groupby=GROUPS,
                groups={
                    "one": ["CST3"],
                    "hla": ["HLA-DRA", "HLA-DRB1"],
                    "T cells": ["CD8A", "IL7R", "LDHB"],
                    "B": ["CD79B", "MS4A1"],
                },
                per_group={"one": 1, "hla": 1, "T cells": (1, None), "B": 1},
                expression={"counts": (None, 25)},
                priority={"LYZ": 2},
                per_type=1,
            ),
        ),
        "limited",
    ),
    "stability of a selection for a platform": (
        """glfs_stability(
            glfs_select_genes(x, 6, key_added = 'platform',
                platform = glfs_platform(failure = c(CD79A = 0.5), efficiency = 0.5),
                limits = glfs_limits(groups = list(one = 'CST3', two = 'LYZ'), per_group = 1)),
            key = 'platform', n_resamples = 2)""",
        lambda adata: (
            pp.select_genes(
                adata,
                6,
                key_added="platform",
                platform=Platform(failure={"CD79A": 0.5}, efficiency=0.5),
                limits=Limits(groups={"one": ["CST3"], "two": ["LYZ"]}, per_group=1),
            ),
            tl.stability(adata, key="platform", n_resamples=2),
        ),
        "platform_stability",
    ),
    "a penalty": (
        """glfs_select_genes(x, objective = 'exact', lam = 0.02, n_comps = 10,
            key_added = 'paper')""",
        lambda adata: pp.select_genes(
            adata, objective=Exact(lam=0.02), n_comps=10, key_added="paper"
        ),
        "paper",
    ),
    "a structure that is named": (
        """glfs_evaluate_panel(glfs_structure(x, lambda1 = 20, n_comps = 15, key_added = 'mine'),
            panel, dimred = 'mine', measures = 'preserved')""",
        lambda adata: (
            pp.structure(adata, lambda1=20, n_comps=15, key_added="mine"),
            tl.evaluate_panel(
                adata, PANEL, measures="preserved", preserve=Preserve(use_rep="mine")
            ),
        ),
        "glfs_evaluation",
    ),
    "classify": (
        """glfs_classify(x, 'bulk_labels', 8, include = 'CD3D', exclude = 'ribosomal',
            block = 'phase')""",
        lambda adata: tl.classify(
            adata,
            GROUPS,
            n_genes=8,
            include="CD3D",
            exclude="ribosomal",
            batch_key="phase",
        ),
        "glfs_class",
    ),
    "resolve genes": (
        "glfs_resolve_genes(x, vendor)",
        lambda adata: tl.resolve_genes(adata, VENDOR),
        "glfs_names",
    ),
    "an order for an instrument": (
        """glfs_order_panel(x, genes = vendor, platform = 'xenium_v1', refused = 'replace',
            catalogue = 'cd3', backups = 1)""",
        lambda adata: tl.order_panel(
            adata,
            genes=VENDOR,
            platform="xenium_v1",
            refused="replace",
            catalogue="cd3",
            backups=1,
        ),
        "glfs_order",
    ),
}


@pytest.fixture(scope="module")
def adata():
    cells = sc.datasets.pbmc68k_reduced().raw.to_adata()[::2].copy()
    cells.X = cells.X.astype(np.float64)
    # R has nothing else of ``.uns``.
    cells.uns = {"neighbors": cells.uns["neighbors"]}
    cells.varm.clear()
    cells.layers["counts"] = cells.X.copy()
    cells.layers["counts"].data = np.rint(np.expm1(cells.X.data))
    cells.layers["counts"].eliminate_zeros()
    cells.var["cd3"] = cells.var_names.str.startswith("CD3")
    cells.var["name"] = [f"symbol{i}" for i in range(cells.n_vars)]
    cells.var = cells.var[["cd3", "name"]]
    return cells


def read(ri, code):
    return values.read(*rbridge._from_rpy2(ri.evalr(PLAIN_VALUE.format(f"glfs_plain({code})"))))


def listed(names):
    return ", ".join(f"'{name}'" for name in names)


@pytest.fixture(scope="module")
def objects(ri, adata):
    """The cells in R with a selection, and the same in Python."""
    ri.evalr("suppressMessages(library(glfsbio))" + PLAIN)
    ri.globalenv["x"] = rbridge.to_sce(adata, X_name="logcounts")
    costs = ", ".join(f"'{name}' = {value}" for name, value in COST.items())
    ri.evalr(
        f"panel <- c({listed(PANEL)}); cost <- setNames(rep(1, nrow(x)), rownames(x));"
        f"given <- c({costs}); cost[names(given)] <- given;"
        "half <- rep(c(TRUE, FALSE), ncol(x) / 2);"
        f"vendor <- data.frame(symbol = c({listed(VENDOR['symbol'])}),"
        f"probe_count = c({', '.join(map(str, VENDOR['probe_count']))}));"
        "x <- glfs_select_genes(x, 10, exclude = 'ribosomal', missing = 'ignore')"
    )
    ours = adata.copy()
    pp.select_genes(ours, 10, exclude="ribosomal", missing="ignore")
    return ours


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_figures_are_those_of_python(ri, objects, name):
    code, call, key = CALLS[name]
    ri.evalr(f"out <- suppressWarnings({code})")
    ours = objects.copy()
    call(ours)
    record = read(ri, f"S4Vectors::metadata(out)[['{key}']]")
    in_python = ("request", "made_of")  # which R does not show
    expected = record_for_r({n: v for n, v in ours.uns[key].items() if n not in in_python})
    assert set(record) == set(expected)
    # R hands parameters over as it was given them, and keeps no structure that counts as written.
    theirs = dict.fromkeys(("params", "versions", "written"), 0)
    same(expected | theirs, record | theirs)
    for table, own, before in (
        ("rowData", ours.var, objects.var),
        ("colData", ours.obs, objects.obs),
    ):
        columns = [column for column in own if column not in before]
        same(own[columns], read(ri, f"SummarizedExperiment::{table}(out)")[columns])


def same(ours, theirs):
    """Nested values, whatever R made of their classes."""
    if isinstance(ours, dict):
        assert list(ours) == list(theirs)
        for name in ours:
            same(ours[name], theirs[name])
    elif isinstance(ours, pd.DataFrame):
        assert list(ours.columns) == list(theirs.columns)
        if not pd.api.types.is_integer_dtype(ours.index):
            assert list(ours.index) == list(theirs.index)
        for name in ours:
            same(ours[name].to_numpy(), theirs[name].to_numpy())
    elif np.asarray(ours).dtype.kind in "OUS":
        assert np.atleast_1d(ours).tolist() == np.atleast_1d(theirs).tolist()
    else:
        np.testing.assert_allclose(
            np.atleast_1d(ours).astype(float),
            np.atleast_1d(theirs).astype(float),
            rtol=1e-10,
            atol=1e-12,
        )


@pytest.mark.parametrize(("platform", "ending"), [("xenium_v1", "csv"), ("cosmx", "xlsx")])
def test_orders_are_the_same_files(ri, objects, tmp_path, platform, ending):
    """And the same panel, read by either language."""
    ours, theirs = tmp_path / f"ours.{ending}", tmp_path / f"theirs.{ending}"
    adata = objects.copy()
    tl.order_panel(adata, platform=platform, labels=GROUPS, counts_layer="counts")
    io.write_order(adata, ours)
    ri.evalr(f"""
        ordered <- glfs_order_panel(x, platform = '{platform}', labels = 'bulk_labels',
            counts_layer = 'counts')
        glfs_write_order(ordered, '{theirs}')
        read <- glfs_read_panel('{theirs}')
    """)
    if ending == "csv":  # a workbook has the time
        assert ours.read_bytes() == theirs.read_bytes()
    panel = io.read_panel(theirs)
    assert panel == io.read_panel(ours) == list(adata.uns["glfs_order"]["table"]["gene"])
    assert list(ri.evalr("rownames(read)")) == panel
    assert ri.evalr("S4Vectors::metadata(read)$form")[0] == panel.form
    same(panel.table["id"].to_numpy(), read(ri, "read$id"))


def test_references_are_the_same_files(ri, objects, tmp_path):
    """Whole, and of the cells that are drawn with a seed."""
    adata = objects.copy()
    tl.resolve_genes(adata)
    ri.evalr("resolved <- glfs_resolve_genes(x)")
    room = 2e9
    for name in ("whole", "part"):
        ours, theirs = tmp_path / f"{name}.zip", tmp_path / f"{name}_r.zip"
        io.write_reference(adata, ours, GROUPS, ids="glfs_names_id", max_bytes=room)
        ri.evalr(f"""suppressMessages(glfs_write_reference(resolved, '{theirs}', 'bulk_labels',
            ids = 'glfs_names_id', max_bytes = {room}, random_state = 0))""")
        assert ours.read_bytes() == theirs.read_bytes()
        room = ours.stat().st_size // 2


def test_the_structure_comes_from_the_matrix(ri, objects):
    """Whatever is beside it, unless that is named."""
    bare = """local({
        y <- x
        SingleCellExperiment::colPairs(y) <- SingleCellExperiment::reducedDims(y) <- NULL
        y
    })"""
    of = "S4Vectors::metadata(glfs_select_genes({}, 4))$glfs$preserved"
    assert ri.evalr(f"identical({of.format('x')}, {of.format(bare)})")[0]
    named = of.replace(", 4", ", 4, neighbors_key = 'neighbors'").format("x")
    ours = objects.copy()
    pp.select_genes(ours, 4, neighbors_key="neighbors")
    np.testing.assert_allclose(ours.uns["glfs"]["preserved"], list(ri.evalr(named)), rtol=1e-10)


def test_what_was_computed_is_used_again(ri, objects, monkeypatch):
    """A structure in the object, or of cells that are the same, whatever object they are in."""
    monkeypatch.setattr("glfs_bio.rbridge.calls._computed", {})
    ri.evalr("kept <- glfs_structure(x)")
    ri.evalr("first <- glfs_select_genes(x, 4, n_comps = 12)")
    monkeypatch.setattr("glfs_bio._anndata.structure.compute", None)
    ri.evalr("suppressWarnings(glfs_evaluate_panel(kept, measures = 'preserved'))")
    ri.evalr("glfs_select_genes(kept, 4)")
    again = "glfs_select_genes(SummarizedExperiment::assay(x, 'logcounts'), 4, n_comps = 12)"
    same = f"identical({again}$glfs_score, SummarizedExperiment::rowData(first)$glfs_score)"
    assert ri.evalr(same)[0]


def test_one_structure_per_object(ri, objects):
    """A list preserves what its selection does, unless a structure is named."""
    ri.evalr("""
        preserved <- function(...) S4Vectors::metadata(suppressMessages(
            glfs_evaluate_panel(..., measures = 'preserved')))$glfs_evaluation$measures
        blocks <- x
        S4Vectors::metadata(blocks) <- list()
        blocks <- glfs_select_genes(blocks, 6, block = 'phase')
        genes <- glfs_genes(blocks)
        own <- preserved(blocks)
        other <- preserved(glfs_structure(blocks), genes)
        fewer <- preserved(glfs_structure(blocks, n_comps = 12, block = 'phase', key_added = 'few'),
            genes, dimred = 'few')
    """)
    assert ri.evalr("all.equal(own$value, other$value, tolerance = 1e-9)")[0]
    assert ri.evalr("identical(own$reading, other$reading)")[0]
    assert ri.evalr("identical(own$reading, fewer$reading)")[0]
    assert ri.evalr("abs(fewer$value - own$value)[1] > 1e-4")[0]


def test_example_on_blood_cells(ri, real, tmp_path):
    file = tmp_path / "cells.h5ad"
    real("pbmc3k_2638")[::4, ::4].copy().write_h5ad(file)
    printed = ri.evalr(f"""local({{
        place <- new.env(parent = globalenv())
        place$commandArgs <- function(...) '{file}'
        capture.output(suppressMessages(source('{EXAMPLE}', local = place)))
    }})""")
    assert "DataFrame with 50 rows and 2 columns" in list(printed)
    assert any("CD14+ Monocytes" in line for line in printed)


def test_an_error_of_r_below_python_keeps_its_message(ri, monkeypatch):
    monkeypatch.setitem(calls.TARGETS, "callback", lambda: ri.evalr("stop('from R')"))
    code = "tryCatch(glfsbio:::call_python('callback'), error = function(e) "
    assert "from R" in ri.evalr(f"{code} conditionMessage(e))")[0]
    assert "python.RRuntimeError" in list(ri.evalr(f"{code} class(e))"))


def test_every_exception_becomes_a_condition(ri, monkeypatch):
    code = "tryCatch(glfsbio:::call_python('fail'), error = function(e) "
    for error in (SystemExit(3), MemoryError("full"), KeyError("key")):

        def fail(error=error):
            raise error

        monkeypatch.setitem(calls.TARGETS, "fail", fail)
        assert f"python.{type(error).__name__}" in list(ri.evalr(f"{code} class(e))"))
        assert ri.evalr(f"{code} conditionMessage(e))")[0] == str(error.args[0])
        assert "in fail" in ri.evalr(f"{code} e$traceback)")[0]
