"""Values through R and back: what arrives is what was sent."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from glfs_bio.labels import coded
from glfs_bio.rbridge import values

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


def written(value):
    return values.for_rpy2(values.write(value))


def read(value):
    return values.read(values.from_rpy2(value))


def through(ri, value):
    """Made an R object, and plain values again."""
    code = "function(x) { x <- glfsbio:::r_value(x); glfsbio:::plain_table(x, rownames(x)) }"
    return read(ri.evalr(code)(written(value)))


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False),
            st.none() | st.integers(-(2**31) + 1, 2**31 - 1),
            st.none() | st.booleans(),
            st.none() | TEXT,
            st.none() | st.sampled_from(["low", "é", "high"]),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_columns(ri, rows):
    table = pd.DataFrame(rows, columns=["float", "whole", "logical", "text", "level"])
    table["whole"] = table["whole"].astype("Int64")
    table["logical"] = table["logical"].astype("boolean")
    table["text"] = table["text"].astype(object)
    table["level"] = pd.Categorical(table["level"], ["low", "é", "high"], ordered=True)
    back = through(ri, table)
    assert list(back["float"]) == list(table["float"])
    for name in ("whole", "logical", "text", "level"):
        pd.testing.assert_series_equal(
            back[name].isna(), table[name].isna(), check_index=False, check_names=False
        )
        assert list(back[name].dropna()) == list(table[name].dropna())
    assert back["level"].cat.ordered
    assert list(back["level"].cat.categories) == ["low", "é", "high"]


def test_tables_at_the_edges(ri):
    """Without rows or columns; of more levels than a byte holds, and more than integers hold."""
    for table in (pd.DataFrame({"a": [1.5]})[:0], pd.DataFrame(index=["x", "y"])):
        back = through(ri, table)
        assert back.shape == table.shape
        assert list(back.columns) == list(table.columns)
    table = pd.DataFrame({"level": pd.Categorical([f"l{i:03}" for i in range(300)])})
    assert list(through(ri, table)["level"]) == list(table["level"])
    table = pd.DataFrame({"large": [2**40, -(2**31)]})
    assert list(through(ri, table)["large"]) == [2.0**40, -(2.0**31)]
    table = written(pd.DataFrame({"x": [1.0, np.nan]}))
    code = """function(x) {
        x <- glfsbio:::r_value(x)
        is.na(x$x[2]) && !is.nan(x$x[2]) && is.null(rownames(x)) && nrow(x) == 2
    }"""
    assert ri.evalr(code)(table)[0]


def test_a_record_keeps_its_nesting(ri):
    """As ``.uns`` has it: dictionaries in dictionaries, flags, and shares that are not known."""
    record = {
        "reused": {"representation": True, "graph": np.bool_(False)},
        "optimality": np.array([np.nan, 0.5, 1.0]),
        "curve": {"n_genes": np.arange(1, 3), "preserved": np.array([0.25, 0.5])},
        "n_genes": np.int64(3),
        "assay_noise": np.nan,
        "params": {"include": np.array(["A", "B"], dtype=object), "none": {}},
    }
    expected = """list(
        reused = list(representation = TRUE, graph = FALSE),
        optimality = c(NA, 0.5, 1),
        curve = list(n_genes = 1:2, preserved = c(0.25, 0.5)),
        n_genes = 3L,
        assay_noise = NA_real_,
        params = list(include = c("A", "B"), none = stats::setNames(list(), character()))
    )"""
    same = ri.evalr(f"function(x) identical(glfsbio:::r_value(x), {expected}, single.NA = FALSE)")
    assert same(written(record))[0]


def test_numbers_by_name_are_a_dict(ri):
    code = "glfsbio:::plain_argument({}, '{}')"
    assert read(ri.evalr(code.format("c(A = 1, B = 2.5)", "cost"))) == {"A": 1, "B": 2.5}
    assert read(ri.evalr(code.format("c(A = 2)", "n_genes"))) == 2
    families = read(ri.evalr(code.format("list(a = 'A', b = c('B', 'C'))", "families")))
    assert {name: list(genes) for name, genes in families.items()} == {"a": ["A"], "b": ["B", "C"]}
    assert read(ri.evalr(code.format("5", "sizes"))).tolist() == [5]


def test_matrices(ri):
    matrix = np.arange(12.0).reshape(3, 4) * (np.arange(12).reshape(3, 4) % 3 > 0)
    code = "function(x) glfsbio:::plain_matrix(glfsbio:::r_value(x), 'x')"
    for kind in (np.asarray, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        back = read(ri.evalr(code)(written(kind(matrix))))
        assert sparse.issparse(back) == (kind is not np.asarray)
        np.testing.assert_array_equal(back.toarray() if sparse.issparse(back) else back, matrix)


def test_nothing_of_r_is_kept(ri):
    vector = ri.evalr("x <- c(1, 2, 3)")
    copied = read(vector)
    ri.evalr("x")
    np.asarray(vector)[0] = 9.0
    assert copied.tolist() == [1.0, 2.0, 3.0]


def test_what_has_no_plain_form(ri):
    for value in ([1 + 2j], pd.to_datetime(["2020-01-01"]), ["a", 1]):
        with pytest.raises(TypeError, match="no plain form in R"):
            written(pd.Series(value))


NA = np.iinfo(np.int32).min
FLAGS = {"kind": "logical", "values": np.array([0, 0, 1, 0], dtype=np.int32)}
TEXTS = {"kind": "strings", "bytes": bytearray(b"0\x001\x00\x000\x00"), "missing": FLAGS}
LEVELS = {"kind": "strings", "bytes": bytearray(b"0\x001\x00"), "missing": None}


@pytest.mark.parametrize(
    ("vector", "names"),
    [
        (np.array([0, 1, NA, 0], dtype=np.int32), ["0", "1"]),
        (np.array([0.0, 1.0, np.nan, 0.0]), ["0", "1"]),
        (np.array([0, 1, -1, 0], dtype=np.int32), ["0", "1"]),
        ({"kind": "logical", "values": np.array([0, 1, NA, 0])}, ["False", "True"]),
        (TEXTS, ["0", "1"]),
        (
            {
                "kind": "factor",
                "codes": np.array([1, 2, NA, 1], dtype=np.int32),
                "levels": LEVELS,
                "ordered": {"kind": "logical", "values": np.array([0])},
            },
            ["0", "1"],
        ),
    ],
    ids=["integers", "doubles", "minus one", "logicals", "strings", "factor"],
)
def test_labels_of_r_mean_the_same(vector, names):
    found, _ = coded(values.read(vector))
    assert found.codes.tolist() == [0, 1, -1, 0]
    assert found.names == names
