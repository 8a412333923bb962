"""What a label is, in every column and for every function that takes some."""

from __future__ import annotations

import logging

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import accepted, refused

from glfs_bio import Limits, pp, tl
from glfs_bio.errors import InvalidType, InvalidValue
from glfs_bio.labels import batch_names, coded

NAN = np.nan
SAME = [
    [0, 1, 0, 1],
    np.array([0, 1, 0, 1], dtype=np.uint8),
    [0.0, 1.0, 0.0, 1.0],
    np.array([0, 1.0, np.int8(0), 1], dtype=object),
    pd.array([0, 1, 0, 1], dtype="Int64"),
    pd.Categorical([0, 1, 0, 1]),
    pd.Categorical([0.0, 1.0, 0.0, 1.0]),
]
MISSING = {
    "floats": [0.0, NAN, 1.0, -1.0],
    "integers": pd.array([0, None, 1, -1], dtype="Int64"),
    "objects": np.array([0, None, 1, -1], dtype=object),
    "categories": pd.Categorical([0, NAN, 1, -1]),
    "texts": ["a", "nan", "b", ""],
    "objects of texts": np.array(["a", None, "b", "NaN"], dtype=object),
    "strings": pd.array(["a", None, "b", "<NA>"], dtype="string"),
    "categories of texts": pd.Categorical(["a", "", "b", "nan"]),
    "booleans": pd.array([True, None, False, None], dtype="boolean"),
}
ALIKE = [
    np.array([0, "0", 1, 2], dtype=object),
    np.array([True, "True", False, "x"], dtype=object),
    np.array([True, False, 1, 2], dtype=object),
    pd.Categorical([0, "0", 1, 1], categories=[0, 1, "0"]),
]


def test_whole_numbers_are_labels_in_any_dtype():
    for values in SAME:
        labels, none = coded(values)
        assert labels.codes.tolist() == [0, 1, 0, 1]
        assert labels.names == ["0", "1"]
        assert labels.categories.dtype.kind == "i"
        assert not none
        assert batch_names(values, "batch").tolist() == ["0", "1", "0", "1"]


@pytest.mark.parametrize("values", MISSING.values(), ids=MISSING)
def test_cells_without_a_label(values):
    labels, _ = coded(values)
    assert (labels.codes >= 0).tolist() == [True, False, True, False]
    with refused(InvalidValue, "batch"):
        batch_names(values, "batch")
    labels, _ = coded(np.array(values)[[1, 3]])
    assert not len(labels.categories)
    assert (labels.codes == -1).all()


def test_cells_that_something_stands_for_are_counted():
    for text in ("NA", "N/A", "n/a", "null", "NULL", "None", "#N/A", "<NA>", "NaN"):
        assert coded(["a", text, text, "b"])[1] == {repr(text): 2}
    labels, _ = coded(["NA", "Na", "none of these", "Nana"])
    assert (labels.codes >= 0).tolist() == [False, True, True, True]
    _, none = coded(["a", "nan", "", "", "-1", "unknown"])
    assert none == {"'nan'": 1, "''": 2}
    labels, none = coded([-1, -1, 3, 4])
    assert none == {"-1": 2}
    assert labels.categories.tolist() == [3, 4]
    for values in ([-1, 1, -1, 1], [-1.0, 1.0, NAN, 1.0]):  # two classes, coded with signs
        assert coded(values)[0].categories.tolist() == [-1, 1]


def test_labels_that_would_become_one_are_refused():
    for reads in (coded, lambda values: batch_names(values, "y")):
        assert accepted(reads, ALIKE, "y") == []


def test_categories_of_any_kind_are_labels_that_files_keep():
    for values in (pd.Categorical([0.5, 1.5]), pd.cut([1, 2, 3], 2), pd.Categorical([1, "a"])):
        labels, _ = coded(values)
        assert all(isinstance(name, str) for name in labels.categories)
    ordered = pd.Categorical(["low", "high"], categories=["low", "none", "high"], ordered=True)
    assert coded(ordered)[0].names == ["low", "high"]
    assert coded([True, False])[0].categories.dtype == bool


# Every function that takes a column


@pytest.fixture
def columns(clusters):
    """The same three labels in many forms, a fifth of the cells without one."""
    labelled = ad.AnnData(np.clip(clusters, 0.0, None))
    labelled.var_names = [f"g{gene}" for gene in range(40)]
    labelled.obs_names = [f"c{cell}" for cell in range(90)]
    code = np.repeat([0.0, 1.0, 2.0], 30)
    code[::5] = NAN
    whole = pd.Series(code, index=labelled.obs_names)
    labelled.obs["category"] = whole.astype("Int64").astype("category")
    labelled.obs["float"] = whole
    labelled.obs["integer"] = whole.fillna(-1).astype(int)
    labelled.obs["nullable"] = whole.astype("Int64")
    texts = whole.astype("Int64").astype(str)  # "<NA>"
    labelled.obs["text"] = texts.astype(object)
    labelled.obs["alike"] = whole.astype(object).where(np.arange(len(whole)) > 9, "1")
    labelled.obs["measure"] = whole + 0.5
    labelled.obs["lists"] = pd.Series([[1], [2], {3}] * 30, labelled.obs_names)
    return labelled


def answers(columns, name):
    """What functions make of a column of labels."""
    panel, keep = list(columns.var_names[:6]), {"inplace": False}
    pp.select_genes(
        columns, 5, limits=Limits(expression={"cells_in_type": (0.1, None)}, groupby=name)
    )
    tl.classify(columns, name, n_genes=3)
    return {
        "selected": sorted(columns.var_names[columns.var["glfs_selected"]]),
        "recall": tl.evaluate_panel(columns, panel, name, **keep)["per_label"],
        "supports": tl.explain_panel(columns, panel, name, **keep)["supports"],
        "predicted": columns.obs["glfs_class_predicted"].astype(str),
        "classes": list(columns.uns["glfs_class"]["classes"]),
    }


def test_functions_take_every_form(columns, caplog):
    expected = answers(columns, "category")
    for form in ("float", "integer", "nullable", "text"):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            results = answers(columns, form)
        warned = any("without a label" in message for message in caplog.messages)
        assert warned == columns.obs[form].isin([-1, "nan", "<NA>"]).any()
        for name, result in results.items():
            if isinstance(result, pd.DataFrame):
                pd.testing.assert_frame_equal(result, expected[name])
            else:
                assert list(result) == list(expected[name]), name


@pytest.mark.parametrize(
    ("column", "kind"),
    [("alike", InvalidValue), ("measure", InvalidType), ("lists", InvalidType)],
)
def test_functions_refuse_what_is_no_column_of_labels(columns, column, kind):
    with refused(kind, "groupby"):
        pp.select_genes(columns, 5, limits=Limits(per_type=1, groupby=column))
    with refused(kind, "batch_key"):
        pp.select_genes(columns, 5, batch_key=column)
    with refused(kind, "labels"):
        tl.evaluate_panel(columns, columns.var_names[:6].tolist(), column)


def test_lists_for_cells_are_no_labels(columns):
    with refused(InvalidType, "preserve"):
        pp.select_genes(columns, 5, preserve={"structure": 1, "lists": 1})
    columns.obs["structure"] = columns.obs["lists"]  # no label, though requests have this word
    tl.explain_panel(columns, columns.var_names[:6].tolist(), "text", preserve="structure")


@pytest.mark.parametrize("argument", ["preserve", "cell_weights"])
def test_whole_numbers_may_be_labels_or_not(columns, argument):
    def panel(column):
        frame = pp.select_genes(columns, 5, **{argument: column}, inplace=False)
        return list(frame.index[frame["glfs_selected"]])

    for form in ("float", "integer", "nullable"):
        with refused(InvalidType, argument):
            panel(form)
    columns.obs["object"] = columns.obs["nullable"].astype(object)
    with refused(InvalidType, argument):
        panel("object")
    assert panel("text") == panel("category")
    columns.obs["known"] = columns.obs["measure"].fillna(0.25)
    assert len(panel("known")) == 5


def test_measurements_and_counts_are_no_labels():
    """As where the number of genes of each cell is taken for its type."""
    values = [[0.5, 1.0], [np.inf, 1.0], [1 + 2j, 2j], np.array(["a", 0.5], dtype=object)]
    assert accepted(coded, values, "y", InvalidType) == []
    counts = pd.Series(np.arange(400) % 200)
    assert accepted(coded, [counts, counts.astype(float).where(counts > 3)], "y") == []
    for labels in (counts.astype("category"), counts.astype(str), np.arange(4000) % 200):
        assert len(coded(labels)[0].categories) == 200
