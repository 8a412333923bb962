"""Drawn input: an answer that an oracle agrees with, or a refusal that names the argument.

``make reliability`` draws more, with GLFS_BIO_EXAMPLES, and counts what is noted here.  What else
comes fails a test: another error is foreign, an answer that the oracle has not is wrong.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import inspect
import itertools
import lzma
import os
import tempfile
from collections import Counter
from functools import wraps
from pathlib import Path

import anndata as ad
import h5py
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from scipy import sparse

from glfs_bio import Limits, Platform, io, pp, tl
from glfs_bio.errors import Refusal
from glfs_bio.vendors.names import nomenclature

pytestmark = pytest.mark.filterwarnings("ignore")
EXAMPLES = settings(
    deadline=None,
    derandomize=True,
    max_examples=int(os.environ.get("GLFS_BIO_EXAMPLES", "5")),
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
SEEDS = st.integers(0, 2**32 - 1)
OUTCOMES: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def _noted(record_property):
    OUTCOMES.clear()
    yield
    for outcome, count in OUTCOMES.items():
        record_property(outcome, count)


def attack(test):
    """Note whether the test says "right" or "accepted", or was refused for an argument."""

    @wraps(test)
    def noted(*args, **drawn):
        try:
            outcome = test(*args, **drawn)
        except Refusal as refusal:
            if not refusal.argument:
                raise
            outcome = "refused"
        OUTCOMES[outcome] += 1

    return noted


def tiny(seed: int, n_cells: int = 40, n_genes: int = 8) -> ad.AnnData:
    """Cells of three types, with labels and batches."""
    rng = np.random.default_rng(seed)
    types = rng.integers(3, size=n_cells)
    means = rng.gamma(1.0, 1.0, size=(3, n_genes))[types]
    adata = ad.AnnData(np.log1p(rng.poisson(3.0 * means)).astype(float))
    adata.obs["type"] = pd.Categorical([f"t{one}" for one in types])
    adata.obs["batch"] = np.where(np.arange(n_cells) % 2, "a", "b")
    adata.layers["counts"] = np.round(np.expm1(adata.X))
    adata.var["cost"] = rng.integers(1, 4, size=n_genes).astype(float)
    return adata


MODES: dict[str, dict] = {
    "structure": {},
    "labels": {"preserve": "type"},
    "expression": {"preserve": "expression"},
    "genes": {"preserve": ["0", "3"]},
    "several": {"preserve": {"structure": 1, "type": 3}},
    "weights": {"cell_weights": "type"},
    "batches": {"batch_key": "batch"},
    "the worst batch": {"batch_key": "batch", "across": "worst"},
    "full rank": {"n_comps": None},
    "few components": {"n_comps": 3},
    "efficiency": {"platform": Platform(efficiency=0.3)},
    "included": {"include": ["2"]},
    "excluded": {"exclude": ["1", "5"]},
    "cost": {"limits": Limits(cost="cost", budget=7.0), "n_genes": None},
    "counts": {"limits": Limits(max_total_per_cell=9.0, counts_layer="counts")},
}


@EXAMPLES
@given(SEEDS, st.sampled_from(list(MODES)), st.integers(1, 4))
@attack
def test_certificates_against_all_panels(seed, mode, size):
    adata, options = tiny(seed), dict(MODES[mode])
    size = options.pop("n_genes", size)
    pp.select_genes(adata, size, **options)
    kept, bound = (float(adata.uns["glfs"][name][-1]) for name in ("preserved", "optimality"))
    if np.isnan(bound):
        return "accepted"
    allowed = adata.var_names[adata.var["glfs_score"].notna()]
    must = set(adata.var_names[adata.var["glfs_included"]])
    asked = {name: value for name, value in options.items() if name not in ("limits", "exclude")}
    best = 0.0
    for k in range(1, 9) if size is None else [size]:
        for panel in itertools.combinations(allowed, k):
            cost = adata.var["cost"][list(panel)].sum()
            counted = adata[:, list(panel)].layers["counts"].mean(axis=0).sum()
            within = (mode != "cost" or cost <= 7.0) and (mode != "counts" or counted <= 9.0)
            if must <= set(panel) and within:
                one = asked | {"include": list(panel), "key_added": "one"}
                pp.select_genes(adata, k, **one)
                best = max(best, float(adata.uns["one"]["preserved"][-1]))
    assert kept >= bound * best - 1e-9
    return "right"


@EXAMPLES
@given(SEEDS, st.integers(20, 400), st.integers(60, 600), st.booleans(), st.integers(1, 19))
@attack
def test_pure_noise_is_not_certified(seed, n_cells, n_genes, normal, size):
    """Chance is compared with permuted genes: one matrix in some hundred is above."""
    rng = np.random.default_rng(seed)
    adata = ad.AnnData((rng.normal if normal else rng.exponential)(size=(n_cells, n_genes)))
    pp.select_genes(adata, size)
    entry = adata.uns["glfs"]
    assert np.isnan(entry["optimality"]).all() or entry["preserved"][-1] <= 0.9
    return "right"


ODD = {
    "NaN": lambda x: x.__setitem__((0, 0), np.nan),
    "infinite": lambda x: x.__setitem__((0, 0), np.inf),
    "constant": lambda x: x.__setitem__((slice(None), slice(0, 2)), 1.0),
    "all constant": lambda x: x.fill(0.0),
    "copies": lambda x: x.__setitem__((slice(None), 1), x[:, 0]),
    "tiny": lambda x: np.multiply(x, 1e-200, out=x),
    "huge": lambda x: np.multiply(x, 1e200, out=x),
    "one gene huge": lambda x: np.multiply(x[:, 0], 1e6, out=x[:, 0]),
    "negative": lambda x: np.subtract(x, 5.0, out=x),
    "cells alike": lambda x: x.__setitem__(slice(None), x[:1]),
}
FORMS = [np.asarray, np.float32, np.asfortranarray, sparse.csr_matrix, sparse.csc_matrix]


@EXAMPLES
@given(
    *(SEEDS, st.integers(3, 60), st.integers(2, 40), st.floats(0, 1)),
    st.lists(st.sampled_from(list(ODD)), min_size=1, max_size=2, unique=True),
    st.sampled_from(FORMS),
)
@attack
def test_odd_matrices(seed, n_cells, n_genes, share, odd, form):
    adata = tiny(seed, n_cells, n_genes)
    values = adata.X
    for name in odd:
        ODD[name](values)
    adata.X = form(values)
    pp.select_genes(adata, max(1, round(share * n_genes)))
    kept = np.asarray(adata.uns["glfs"]["preserved"])
    assert (kept > -1e-6).all()
    assert (kept < 1 + 1e-6).all()
    return "accepted"


@EXAMPLES
@given(
    *(SEEDS, st.booleans(), st.sampled_from(["indices", "indptr"]), st.floats(0, 1)),
    st.sampled_from([-1, -(2**31), 40, 60, 10**6, 2**31 - 1]),
)
@attack
def test_damaged_sparse_matrices(seed, backed, part, place, value):
    """A number that is a place in the matrix makes another matrix, whose panel is asked for."""
    adata = tiny(seed, 60, 40)
    adata.X = sparse.csr_matrix(adata.X)
    data, indices, indptr = adata.X.data, adata.X.indices.copy(), adata.X.indptr.copy()
    other, numbers = adata.copy(), {"indices": indices, "indptr": indptr}[part]
    numbers[round(place * (len(numbers) - 1))] = value
    with tempfile.TemporaryDirectory() as folder:
        if backed:
            adata.write_h5ad(path := Path(folder) / "cells.h5ad")
            with h5py.File(path, "r+") as file:
                file[f"X/{part}"][:] = numbers
            adata = ad.read_h5ad(path, backed="r")
        else:
            getattr(adata.X, part)[:] = numbers
        pp.select_genes(adata, 4)
    assert indptr[0] == 0
    assert (np.diff(indptr) >= 0).all()
    assert indices.min() >= 0
    dense = np.zeros(other.shape)
    rows = np.repeat(np.arange(other.n_obs), np.diff(indptr))
    np.add.at(dense, (rows, indices[: indptr[-1]]), data[: indptr[-1]])
    other.X = sparse.csr_matrix(dense)
    pp.select_genes(other, 4)
    assert adata.var["glfs_selected"].equals(other.var["glfs_selected"])
    return "right"


VALUES = [
    *(None, True, False, -1, 0, 1, 3, 10**9, 2.5, float("nan"), float("inf"), 1e-320, 10**400),
    *("", "glfs", "type", "batch", "counts", "nothing", "a/b", "\0", "0", b"0", object(), range(3)),
    *([], ["0"], ["0", 1], ("0", "1"), {}, {"type": -1}, {"type": 1.0}),
    *(np.zeros(3), np.array("x")),
]
#: With their first argument, where another one is drawn.
FUNCTIONS = {pp.select_genes: 3} | dict.fromkeys(
    [tl.evaluate_panel, tl.substitutes, tl.extend_panel, tl.explain_panel, tl.order_panel], "glfs"
)
ARGUMENTS = [
    (function, name)
    for function in FUNCTIONS
    for name in list(inspect.signature(function).parameters)[1:]
]


@EXAMPLES
@given(SEEDS, st.sampled_from(ARGUMENTS), st.sampled_from(VALUES) | st.text() | st.floats())
@attack
def test_odd_arguments(seed, asked, value):
    """What is refused leaves the object as it was."""
    function, name = asked
    adata = tiny(seed, 30, 12)
    pp.select_genes(adata, 3, n_comps=5)
    before, first = adata.copy(), list(inspect.signature(function).parameters)[1]
    try:
        function(adata, **{first: FUNCTIONS[function], name: value})
    except Refusal:
        assert before.var.equals(adata.var)
        assert list(before.obs) == list(adata.obs)
        raise
    return "accepted"


PACKED = {"csv": bytes, "csv.gz": gzip.compress, "csv.bz2": bz2.compress, "csv.xz": lzma.compress}
PLACES = st.floats(0, 1, exclude_max=True)


@EXAMPLES
@given(
    SEEDS,
    st.sampled_from(["h5ad", "xlsx", "gmt", "txt", *PACKED]),
    PLACES | st.lists(st.tuples(PLACES, st.integers(0, 255)), min_size=1, max_size=5),
)
@attack
def test_broken_files(seed, ending, change):
    """Cut off, or with other bytes."""
    adata = tiny(seed, 30, 12)
    with tempfile.TemporaryDirectory() as folder:
        path, read = Path(folder) / f"file.{ending}", io.read_cells
        if ending == "h5ad":
            adata.write_h5ad(path)
        elif ending in PACKED:
            path.write_bytes(PACKED[ending](adata.to_df().to_csv().encode()))
        else:
            pp.select_genes(adata, 3, n_comps=5)
            (io.write_gmt if ending == "gmt" else io.write_gene_list)(adata, path)
            read = io.read_panel
        content = bytearray(path.read_bytes())
        if isinstance(change, float):
            content = content[: int(change * len(content))]
        else:
            for place, byte in change:
                content[int(place * len(content))] = byte
        path.write_bytes(bytes(content))
        read(path)
    return "accepted"


LETTERS = st.sampled_from([*"abcXYZ019" * 4, *"-_.:/ =+@#'\"$,;|\\\n\r\t\v\x00\x85\u2028"])


@EXAMPLES
@given(
    SEEDS,
    st.lists(st.text(LETTERS, min_size=1, max_size=5), min_size=12, max_size=12, unique=True),
    st.sampled_from(["txt", "csv", "tsv", "xlsx", "gmt"]),
)
@attack
def test_names_in_files(seed, names, ending):
    adata = tiny(seed, 30, 12)
    adata.var_names = names
    pp.select_genes(adata, 3, n_comps=5)
    ranked = adata.var[adata.var["glfs_selected"]].sort_values("glfs_rank").index
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"panel.{ending}"
        (io.write_gmt if ending == "gmt" else io.write_gene_list)(adata, path)
        assert io.read_panel(path) == list(ranked)
    return "right"


#: Names that are taken for something else where a table is read as one.
TRICKY = st.sampled_from(
    ["001", "1.10", "1.1", "1e5", "NA", "nan", "None", "null", "TRUE", "inf", "109979", "0x1F", "-"]
)
NAMES = TRICKY | st.text(st.sampled_from("abcXYZ019-_. /'"), min_size=1, max_size=6).map(str.strip)
SYMBOLS = st.sampled_from(nomenclature()["symbol"][:2000].tolist())


def several(names, n):
    return st.lists(names.filter(bool), min_size=n, max_size=n, unique=True)


@EXAMPLES
@given(
    *(several(NAMES, 5), several(NAMES, 4), st.booleans()),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.sampled_from(["csv", "tsv", "txt"]),
    st.sampled_from([bytes, gzip.compress]),
)
@attack
def test_names_of_tables(rows, columns, transpose, separator, quoting, ending, packed):
    """What stands in a table is the name, whatever it looks like."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells"
        with path.open("w", newline="") as file:
            lines = csv.writer(
                file, delimiter="\t" if ending == "tsv" else separator, quoting=quoting
            )
            lines.writerow(["", *columns])
            lines.writerows(
                [name, *(str((7 * i + 3 * j) % 5) for j in range(4))] for i, name in enumerate(rows)
            )
        named = Path(folder) / (f"cells.{ending}" + ".gz" * (packed is gzip.compress))
        named.write_bytes(packed(path.read_bytes()))
        adata = io.read_cells(named, transpose=transpose)
    of_rows, of_columns = adata.obs_names, adata.var_names
    if transpose:
        of_rows, of_columns = of_columns, of_rows
    assert (list(of_rows), list(of_columns)) == (rows, columns)
    return "right"


@EXAMPLES
@given(
    *(several(NAMES, 4), st.integers(1, 3), st.booleans(), st.booleans()),
    st.sampled_from(["genes.tsv", "features.tsv"]),
    st.sampled_from(["", "GSM1_"]),
)
@attack
def test_names_of_folders(names, n_columns, matrix_packed, names_packed, called, prefix):
    """Ids, symbols and kinds of features, one to three columns, each file packed or not."""
    ids = [f"FBgn{i:07d}" for i in range(4)]
    table = [ids if n_columns > 1 else names, names, ["Gene Expression"] * 4][:n_columns]
    contents = {
        "matrix.mtx": "%%MatrixMarket matrix coordinate integer general\n4 3 3\n"
        "1 1 1\n2 2 2\n4 3 5\n",
        called: "".join("\t".join(row) + "\n" for row in zip(*table, strict=True)),
        "barcodes.tsv": "AAACCTGAGAAACC-1\nAAACCTGAGAAACA-1\nAAACCTGAGAAACT-1\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, text in contents.items():
            packed = matrix_packed if name == "matrix.mtx" else names_packed
            content = gzip.compress(text.encode()) if packed else text.encode()
            (Path(folder) / f"{prefix}{name}{'.gz' * packed}").write_bytes(content)
        adata = io.read_cells(folder)
    assert list(adata.var_names) == names
    assert adata.X.sum() == 8
    return "right"


def quoted(names):
    return [f'"{name}"' for name in names]


#: How people keep lists of genes.
LISTS = {
    "lines": lambda g: ("txt", "\n".join(g)),
    "quotes of R": lambda g: ("txt", "\n".join(quoted(["x", *g]))),
    "a vector of R": lambda g: (
        "csv",
        '"","x"\n' + "\n".join(f'"{i}","{name}"' for i, name in enumerate(g, start=1)),
    ),
    "a series": lambda g: ("csv", ",0\n" + "\n".join(f"{i},{name}" for i, name in enumerate(g))),
    "a table of R": lambda g: (
        "tsv",
        "gene\tweight\n" + "\n".join(f"{i}\t{name}\t0.5" for i, name in enumerate(g, start=1)),
    ),
    "a title": lambda g: ("csv", "My panel,\n,\nGene,Comment\n" + "\n".join(f"{x},ok" for x in g)),
    "spaces": lambda g: ("csv", "Gene;x\n" + "\n".join(f" {x}\u200b;1" for x in g)),
    "controls": lambda g: (
        "csv",
        "name,id\n" + "\n".join(f"{x}," for x in [*g, "Blank-1", "notarget2"]),
    ),
    "in a cell": lambda g: ("csv", f'gene,type\n"{"; ".join(g)}",T\n'),
}


@EXAMPLES
@given(several(SYMBOLS, 6), st.sampled_from(list(LISTS)))
@attack
def test_lists_of_people(genes, kind):
    ending, text = LISTS[kind](genes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"panel.{ending}"
        path.write_text(text)
        assert list(io.read_panel(path)) == genes
    return "right"


@EXAMPLES
@given(several(SYMBOLS, 8), SEEDS, st.booleans(), st.sampled_from(["", "gene", "cell"]))
@attack
def test_ways_round(genes, seed, upright, corner):
    """A table of genes is never read as cells."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.poisson(2, size=(5, 8)), [f"s{i}_x" for i in range(5)], genes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells.csv"
        (frame if upright else frame.T).to_csv(path, index_label=corner)
        adata = io.read_cells(path)
    assert list(adata.var_names) == genes
    return "right"


KINDS = {
    "texts": lambda codes: np.array(["a", "b", "c"], dtype=object)[codes],
    "whole": lambda codes: codes,
    "whole reals": lambda codes: np.where(np.arange(40) < 3, np.nan, codes),
    "noise": lambda codes: np.where(np.arange(40) < 3, -1, codes),
    "nan text": lambda codes: np.where(np.arange(40) < 3, np.nan, codes).astype(str),
    "strings": lambda codes: pd.array(
        [None if i < 3 else f"k{c}" for i, c in enumerate(codes)], "string"
    ),
    "logical": lambda codes: codes > 0,
    "alike": lambda codes: pd.Categorical([0, "0", 1, "1"] * 10, categories=[0, "0", 1, "1"]),
    "reals": lambda codes: codes + 0.5,
}
#: What each function says of labels.
ASKED = {
    "labels": lambda a: tl.evaluate_panel(a, ["0", "3"], "kind", n_random=0, inplace=False)[
        "accuracy"
    ],
    "groupby": lambda a: list(
        pp.select_genes(a, 3, limits=Limits(per_type=1, groupby="kind"), inplace=False)["glfs_rank"]
    ),
    "preserve": lambda a: list(pp.select_genes(a, 3, preserve="kind", inplace=False)["glfs_rank"]),
    "cell_weights": lambda a: list(
        pp.select_genes(a, 3, cell_weights="kind", inplace=False)["glfs_rank"]
    ),
    "batch_key": lambda a: list(
        pp.select_genes(a, 3, batch_key="kind", inplace=False)["glfs_rank"]
    ),
}


@EXAMPLES
@given(SEEDS, st.sampled_from(list(KINDS)), st.sampled_from(list(ASKED)))
@attack
def test_columns_that_may_be_labels(seed, kind, argument):
    """Labels say what the same labels say as categories of texts."""
    adata = tiny(seed)
    codes = pd.Categorical(adata.obs["type"], categories=["t0", "t1", "t2"]).codes.astype(int)
    adata.obs["kind"] = KINDS[kind](codes)
    plain = adata.copy()
    known = kind in ("texts", "whole", "logical", "reals", "alike")
    texts = [f"k{code > 0 if kind == 'logical' else code}" for code in codes]
    missing = [not known and i < 3 for i in range(40)]
    plain.obs["kind"] = pd.Categorical(np.where(missing, None, texts))
    found = ASKED[argument](adata)
    if kind == "reals":
        assert argument in ("preserve", "cell_weights")
        return "accepted"
    assert kind != "alike"
    np.testing.assert_array_equal(found, ASKED[argument](plain))
    return "right"


@EXAMPLES
@given(SEEDS, st.sampled_from(["h5ad", "zarr"]), several(NAMES, 3), st.booleans())
@attack
def test_results_in_files(seed, ending, names, strings):
    """What is stored can be stored, and comes back as it was."""
    adata = tiny(seed)
    adata.obs["type"] = adata.obs["type"].map(dict(zip(["t0", "t1", "t2"], names, strict=True)))
    strings = strings or pd.__version__ >= "3"  # whose other texts anndata does not write
    with pd.option_context("future.infer_string", strings), tempfile.TemporaryDirectory() as folder:
        pp.select_genes(adata, 3)
        tl.evaluate_panel(adata, "glfs", "type", n_random=2)
        tl.explain_panel(adata, labels="type")
        path = Path(folder) / f"cells.{ending}"
        (adata.write_h5ad if ending == "h5ad" else adata.write_zarr)(path)
        again = (ad.read_h5ad if ending == "h5ad" else ad.read_zarr)(path)
        for key in ("glfs_evaluation", "glfs_explanation"):
            for name, before in adata.uns[key].items():
                after = again.uns[key][name]
                if isinstance(before, pd.DataFrame):
                    for column in before:
                        np.testing.assert_array_equal(before[column], after[column])
                elif isinstance(before, np.ndarray):
                    np.testing.assert_array_equal(before, after)
        tl.compare_panels(again, {"one": "glfs", "other": ["0"]}, labels="type")
    return "right"


CONTROLS = st.sampled_from(
    [
        "Blank-1",
        "BLANK_0006",
        "notarget3",
        "NegPrb4",
        "NegControlProbe_00042",
        "antisense_KLK",
        "POS_A",
    ]
)


@EXAMPLES
@given(SEEDS, several(CONTROLS, 3), st.sampled_from(FORMS), st.integers(0, 60))
@attack
def test_controls_in_matrices(seed, names, form, place):
    """They are as if they were not there."""
    clean = tiny(seed, 60, 60)
    rng = np.random.default_rng(seed)
    blanks = rng.poisson(30.0, size=(60, 3)).astype(float)
    values = np.insert(clean.X, [place] * 3, blanks, axis=1)
    adata = ad.AnnData(form(values), obs=clean.obs)
    adata.var_names = list(np.insert(clean.var_names.astype(object), [place] * 3, names))
    clean.X = form(clean.X)
    for one in (clean, adata):
        pp.select_genes(one, 5)
    assert list(clean.var_names[clean.var["glfs_selected"]]) == list(
        adata.var_names[adata.var["glfs_selected"]]
    )
    return "right"
