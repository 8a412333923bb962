"""Drawn input: an answer that an oracle agrees with, or a refusal that names the argument.

``GLFS_BIO_EXAMPLES=200 pytest tests/test_attacks.py`` draws more of each kind.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import inspect
import itertools
import json
import lzma
import os
import re
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from tempfile import TemporaryDirectory

import anndata as ad
import h5py
import numpy as np
import pandas as pd
import pytest
from every_call import held, same
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from refusals import refused
from scipy import sparse

import glfs_bio
from glfs_bio import LapRLSClassifier, Limits, Platform, io, pl, pp, tl
from glfs_bio.cli import call as shell
from glfs_bio.data.matrix import check_indices
from glfs_bio.errors import InvalidValue, Refusal
from glfs_bio.vendors import sheets

pytestmark = pytest.mark.filterwarnings("ignore")
EXAMPLES = int(os.environ.get("GLFS_BIO_EXAMPLES", "5"))
SEEDS = st.integers(0, 2**32 - 1)
PLACES = st.floats(0, 1, exclude_max=True)


def attack(*drawn, n=EXAMPLES):
    """Draw what a test takes; a refusal that names an argument ends an example."""

    def decorate(test):
        @wraps(test)
        def attacked(*args, **values):
            try:
                test(*args, **values)
            except Refusal as refusal:
                if not refusal.argument:
                    raise

        options = settings(
            deadline=None,
            derandomize=True,
            max_examples=n,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        return options(given(*drawn)(attacked))

    return decorate


def several(names, n):
    return st.lists(names.filter(bool), min_size=n, max_size=n, unique=True)


def selected(adata):
    return list(adata.var_names[adata.var["glfs_selected"]])


def tiny(seed: int, n_cells: int = 40, n_genes: int = 8) -> ad.AnnData:
    """Cells of three types, with labels and batches."""
    rng = np.random.default_rng(seed)
    types = rng.integers(3, size=n_cells)
    means = rng.gamma(1.0, 1.0, size=(3, n_genes))[types]
    adata = ad.AnnData(np.log1p(rng.poisson(3.0 * means)).astype(float))
    adata.obs["type"] = pd.Categorical([f"t{kind}" for kind in types])
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
    "counts": {"limits": Limits(total_counts={"cell": 9.0}, counts_layer="counts")},
}


@attack(SEEDS, st.sampled_from(list(MODES)), st.integers(1, 4))
def test_certificates_against_all_panels(seed, mode, size):
    adata, options = tiny(seed), dict(MODES[mode])
    size = options.pop("n_genes", size)
    pp.select_genes(adata, size, **options)
    preserved, bound = (adata.uns["glfs"][name][-1] for name in ("preserved", "optimality"))
    if np.isnan(bound):
        return
    allowed = adata.var_names[adata.var["glfs_score"].notna()]
    must = set(adata.var_names[adata.var["glfs_included"]])
    asked = {name: value for name, value in options.items() if name not in ("limits", "exclude")}
    best = 0.0
    for k in range(1, 9) if size is None else [size]:
        for panel in map(list, itertools.combinations(allowed, k)):
            cost = adata.var["cost"][panel].sum()
            counted = adata[:, panel].layers["counts"].mean(axis=0).sum()
            within = (mode != "cost" or cost <= 7.0) and (mode != "counts" or counted <= 9.0)
            if must <= set(panel) and within:
                pp.select_genes(adata, k, **(asked | {"include": panel}), key_added="other")
                best = max(best, adata.uns["other"]["preserved"][-1])
    assert preserved >= bound * best - 1e-9


@attack(SEEDS, st.integers(20, 400), st.integers(60, 600), st.booleans(), st.integers(1, 19))
def test_pure_noise_is_not_certified(seed, n_cells, n_genes, normal, size):
    """Chance is compared with permuted genes: one matrix in some hundred is above."""
    rng = np.random.default_rng(seed)
    adata = ad.AnnData((rng.normal if normal else rng.exponential)(size=(n_cells, n_genes)))
    pp.select_genes(adata, size)
    entry = adata.uns["glfs"]
    assert np.isnan(entry["optimality"]).all() or entry["preserved"][-1] <= 0.9


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


@attack(
    *(SEEDS, st.integers(3, 60), st.integers(2, 40), PLACES),
    st.lists(st.sampled_from(list(ODD)), min_size=1, max_size=2, unique=True),
    st.sampled_from(FORMS),
)
def test_odd_matrices(seed, n_cells, n_genes, share, odd, form):
    adata = tiny(seed, n_cells, n_genes)
    for name in odd:
        ODD[name](adata.X)
    adata.X = form(adata.X)
    pp.select_genes(adata, max(1, round(share * n_genes)))
    preserved = np.asarray(adata.uns["glfs"]["preserved"])
    assert (preserved > -1e-6).all()
    assert (preserved < 1 + 1e-6).all()


@attack(
    *(SEEDS, st.sampled_from(["memory", "file", "raw"]), st.sampled_from(["<", ">"])),
    *(st.sampled_from(["indices", "indptr"]), PLACES),
    st.sampled_from([None, -1, -(2**31), 40, 60, 10**6, 2**31 - 1]),
)
def test_damaged_sparse_matrices(tmp_path, seed, where, order, part, place, value):
    """A number that is a place in the matrix makes another matrix, whose panel is asked for."""
    adata = tiny(seed, 60, 40)
    adata.X = sparse.csr_matrix(adata.X)
    other, data = adata.copy(), adata.X.data
    parts = {"indices": adata.X.indices.copy(), "indptr": adata.X.indptr.copy()}
    parts[part] = parts[part].astype(f"{order}i4")
    if value is not None:
        parts[part][round(place * (len(parts[part]) - 1))] = value
    if where == "file":
        adata.write_h5ad(tmp_path / "cells.h5ad")
        with h5py.File(tmp_path / "cells.h5ad", "r+") as file:
            del file[f"X/{part}"]
            file[f"X/{part}"] = parts[part]
        adata = ad.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    else:
        setattr(adata.X, part, parts[part])
    if where == "raw":
        adata.raw = adata
        adata.X = other.X
    pp.select_genes(adata, 4, layer="raw" if where == "raw" else None)
    indices, indptr = parts["indices"], parts["indptr"]
    assert indptr[0] == 0
    assert (np.diff(indptr) >= 0).all()
    assert indices.min() >= 0
    dense = np.zeros(other.shape)
    rows = np.repeat(np.arange(other.n_obs), np.diff(indptr))
    np.add.at(dense, (rows, indices[: indptr[-1]]), data[: indptr[-1]])
    other.X = sparse.csr_matrix(dense)
    pp.select_genes(other, 4)
    assert selected(adata) == selected(other)


VALUES = [
    *(None, True, False, -1, 0, 1, 3, 10**9, 2.5, float("nan"), float("inf"), 1e-320, 10**400),
    *("", "glfs", "type", "batch", "counts", "nothing", "a/b", "\0", "0", b"0", object(), range(3)),
    *([], ["0"], ["0", 1], ("0", "1"), {}, {"type": -1}, {"type": 1.0}),
    *(np.zeros(3), np.array("x")),
]
#: With their first argument, where another one is drawn.
FUNCTIONS = {pp.select_genes: 3} | dict.fromkeys(
    [tl.evaluate_panel, tl.extend_panel, tl.explain_panel, tl.order_panel], "glfs"
)
ARGUMENTS = [
    (function, name)
    for function in FUNCTIONS
    for name in list(inspect.signature(function).parameters)[1:]
]


@attack(SEEDS, st.sampled_from(ARGUMENTS), st.sampled_from(VALUES) | st.text() | st.floats())
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


#: What a stranger writes into a record, by the way to a field; None: the text itself.
FIELDS = [
    *((name,) for name in ("n_genes", "include", "exclude", "limits", "platform", "method")),
    *(("structure", name) for name in ("n_comps", "ignore", "random_state", "later")),
    *(("later",), ("limits", "groups"), ("platform", "genes"), ("structure",), ()),
]
TOOLS = [tl.evaluate_panel, tl.explain_panel, tl.extend_panel, tl.prove_panel, tl.order_panel]
JSON = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
ODD_JSON = [10**12, "list.csv", ["list.csv"], [], {}, {"re.Pattern": ["(", 0]}, {"re.Pattern": 5}]
ODD_JSON += [{"re.Pattern": [pattern, 32]} for pattern in ("(A+)+$", "A*A*A*A*$", "(A|A)*$")]


@attack(SEEDS, st.sampled_from(FIELDS), st.sampled_from(ODD_JSON) | JSON, st.sampled_from(TOOLS))
def test_records_of_strangers(tmp_path, monkeypatch, seed, way, value, function):
    """No pattern runs for ever, no file is read, and what cannot be read is refused by the key."""
    monkeypatch.chdir(tmp_path)
    adata = tiny(seed, 30, 12)
    adata.var_names = [*adata.var_names[:11], "A" * 60 + "!"]
    pp.select_genes(adata, 3, n_comps=5)
    Path("list.csv").write_text("secret\n")
    record = json.loads(adata.uns["glfs"]["request"])
    *parents, name = way or [None]
    part = record
    for parent in parents:
        part[parent] = part = part[parent] or {"per_group": 1}
    part[name] = value
    adata.uns["glfs"]["request"] = json.dumps(record if way else value)
    monkeypatch.setattr(sheets, "_rows_of_text", None)  # reads files
    options = {"n_genes": 5} if function is tl.extend_panel else {}
    function(adata, "glfs", **options)


@cache
def with_results() -> ad.AnnData:
    """Cells with a structure, a selection by it, and results of the selection."""
    adata = tiny(0, 60, 24)
    pp.structure(adata, labels="type")
    pp.select_genes(adata, 4, use_rep="glfs_structure")
    tl.evaluate_panel(adata, "glfs", "type")
    tl.explain_panel(adata, "glfs", "type", genes=["5"])
    tl.prove_panel(adata)
    tl.stability(adata, n_resamples=2)
    tl.extend_panel(adata, "glfs", 5)
    return adata


def places(value: object, way: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The ways to a value and to all within it."""
    items = value.items() if isinstance(value, dict) else ()
    return [way, *(place for name, item in items for place in places(item, (*way, name)))]


def cell_of_table(table):
    table = table.copy()
    table[table.columns[0]] = "x" if table.dtypes.iloc[0].kind in "biuf" else -1
    return table


#: What somebody writes in the place of something; what it does not suit stays as it is.
WRONG = [5, -1, True, np.nan, "x", None, {}, [], ["x"], np.zeros(3), np.ones((2, 2)), np.empty(0)]
CHANGED = {
    "gone": None,
    "shorter": lambda value: value[:-1],
    "narrower": lambda value: value[..., :-1],
    "turned": lambda value: value.T,
    "unknown": lambda value: np.full(value.shape, np.nan),
    "a hole": lambda value: np.where(np.arange(value.size).reshape(value.shape), value, np.nan),
    "negative": lambda value: -value.astype(float),
    "huge": lambda value: value * 1e200,
    "objects": lambda value: value.astype(object),
    "a table": cell_of_table,
}


def report(adata, panel):
    with TemporaryDirectory() as folder:
        io.write_report(adata, Path(folder) / "report.html", key=panel, basis=False)


PLOTS = ("curve", "genes", "comparison", "labels", "confusion", "stability")
READERS = {
    "select": lambda adata, panel: pp.select_genes(adata, 3, preserve="type", key_added="other"),
    "evaluate": tl.evaluate_panel,
    "explain": lambda adata, panel: tl.explain_panel(adata, panel, "type", genes=["7"]),
    "extend": lambda adata, panel: tl.extend_panel(adata, panel, 5),
    "prove": lambda adata, panel: tl.prove_panel(adata, panel),
    "report": report,
    **{draw: lambda adata, _, draw=draw: getattr(pl, draw)(adata, show=False) for draw in PLOTS},
}


@attack(
    *(PLACES, st.sampled_from(["uns", "uns", "uns", "obsm", "varm"]), st.booleans()),
    st.sampled_from(list(CHANGED)) | st.sampled_from(WRONG),
    *(st.sampled_from(list(READERS)), st.sampled_from(["glfs", "glfs", ["1", "2"]])),
    n=20 * EXAMPLES if EXAMPLES < 100 else EXAMPLES,
)
def test_damaged_results(place, part, has_cells, damage, reader, panel):
    """Whatever somebody wrote in the place of a result, or of a part of it, has a refusal."""
    adata = with_results()[slice(None) if has_cells else slice(0)].copy()
    container = getattr(adata, part)
    keys = [key for key in container if key.startswith("glfs")]
    ways = [way for key in keys for way in places(container[key], (key,))]
    *parents, name = ways[int(place * len(ways))]
    for parent in parents:
        container = container[parent]
    change = CHANGED[damage] if isinstance(damage, str) and damage in CHANGED else lambda _: damage
    if change is None:
        del container[name]
    else:
        with suppress(Exception):
            container[name] = change(container[name])
    reader_of = READERS[reader]
    reader_of(adata, "glfs" if reader == "report" else panel)
    plt.close("all")


@attack(
    *(SEEDS, st.sampled_from([np.e, 2, 10]), st.booleans(), st.booleans()),
    st.sampled_from(["memory", "h5ad", "zarr"]),
)
def test_bases_and_containers(tmp_path, seed, base, is_raw, said, container):
    """Folds and markers are those of natural logarithms in memory, of all genes in their order."""
    rng, adata = np.random.default_rng(seed), tiny(seed, 60, 30)
    expected = ad.AnnData(sparse.csr_matrix(adata.X), obs=adata.obs)
    adata.X = sparse.csr_matrix(adata.X / np.log(base))
    adata.uns = {"log1p": {"base": base}} if said else {}
    if is_raw:
        kept = np.sort(rng.choice(30, 25, replace=False))
        adata.raw = adata[:, rng.permutation(30)].copy()
        adata, expected = adata[:, kept].copy(), expected[:, kept].copy()
        adata.X = rng.normal(size=adata.shape)
    if container != "memory":
        path = tmp_path / f"cells.{container}"
        shell.write_cells(adata, path, overwrite=True)
        adata = io.read_cells(path, backed=True)
        shell.write_cells(adata, tmp_path / "again.zarr", overwrite=True)
        assert ad.read_zarr(tmp_path / "again.zarr")[::2, ::3].copy().X.shape[0] == 30
    for cells, layer in ((adata, "raw" if is_raw else None), (expected, None)):
        tl.explain_panel(cells, list(expected.var_names[:8]), "type", layer=layer, key_added="why")
    tables = [cells.uns["why"]["table"] for cells in (adata, expected)]
    same(*({name: table[name] for name in ("expressed_in", "role")} for table in tables), "why")


TARGETS = {
    "text": lambda path: path.write_text("old"),
    "nothing": lambda path: None,
    "fifo": os.mkfifo,
    "device": lambda path: path.symlink_to(os.devnull),
    "folder": lambda path: (path / "years of work").mkdir(parents=True),
    "dangling": lambda path: path.symlink_to("nowhere.csv"),
    "ring": lambda path: path.symlink_to(path),
}


@attack(
    *(st.sampled_from(list(TARGETS)), st.booleans(), st.sampled_from(["g", "g" * 300, "-", "\0"])),
    st.sampled_from([".csv", ".zarr", ".xlsx", ".html"]),
)
def test_targets(tmp_path_factory, kind, overwrite, name, ending):
    """A file is written whole, or nothing is touched; devices stay what they are."""
    folder = tmp_path_factory.mktemp("targets")
    adata, path = tiny(0, 30, 12), folder / f"{name}{ending}"
    pp.select_genes(adata, 3, n_comps=5)
    with suppress(OSError, ValueError):
        TARGETS[kind](path)
    before = {file.name: file.lstat() for file in folder.iterdir()}
    write = {".zarr": shell.write_cells, ".html": io.write_report}.get(ending, io.write_genes)
    options = {"basis": False} if ending == ".html" else {}
    try:
        write(adata, path, overwrite=overwrite, **options)
    except Refusal:
        assert before == {file.name: file.lstat() for file in folder.iterdir()}
        raise
    assert kind in ("text", "nothing", "dangling")
    assert overwrite or kind == "nothing"
    assert path.stat().st_size


PACKED = {"csv": bytes, "csv.gz": gzip.compress, "csv.bz2": bz2.compress, "csv.xz": lzma.compress}


@attack(
    SEEDS,
    st.sampled_from(["h5ad", "xlsx", "gmt", "txt", *PACKED]),
    PLACES | st.lists(st.tuples(PLACES, st.integers(0, 255)), min_size=1, max_size=5),
)
def test_broken_files(tmp_path, seed, ending, change):
    """Cut off, or with other bytes."""
    adata = tiny(seed, 30, 12)
    path, read = tmp_path / f"file.{ending}", io.read_cells
    if ending == "h5ad":
        adata.write_h5ad(path)
    elif ending in PACKED:
        path.write_bytes(PACKED[ending](adata.to_df().to_csv().encode()))
    else:
        pp.select_genes(adata, 3, n_comps=5)
        write_panel(adata, path)
        read = io.read_panel
    content = bytearray(path.read_bytes())
    if isinstance(change, float):
        content = content[: int(change * len(content))]
    else:
        for place, byte in change:
            content[int(place * len(content))] = byte
    path.write_bytes(bytes(content))
    read(path)


def write_panel(adata, path):
    io.write_genes(adata, path, overwrite=True)


#: Names that are taken for something else where a table is read as one.
TRICKY = st.sampled_from(
    ["001", "1.10", "1.1", "1e5", "NA", "nan", "None", "null", "TRUE", "inf", "109979", "0x1F", "-"]
)
NAMES = TRICKY | st.text(st.sampled_from("abcXYZ019-_. /'"), min_size=1, max_size=6).map(str.strip)
NAMES = NAMES.filter(lambda name: not re.fullmatch("'.*'", name))  # quotes, as R writes them


@attack(
    *(several(NAMES, 5), several(NAMES, 4), st.booleans()),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.sampled_from(["csv", "tsv", "txt", "csv.gz"]),
)
def test_names_of_tables(tmp_path, rows, columns, transpose, separator, quoting, ending):
    """What stands in a table is the name, whatever it looks like."""
    path = tmp_path / f"cells.{ending}"
    opened = gzip.open if ending.endswith("gz") else open
    with opened(path, "wt", newline="") as file:
        lines = csv.writer(file, delimiter="\t" if ending == "tsv" else separator, quoting=quoting)
        lines.writerow(["", *columns])
        lines.writerows(
            [name, *((7 * i + 3 * j) % 5 for j in range(4))] for i, name in enumerate(rows)
        )
    adata = io.read_cells(path, transpose=transpose)
    names = [list(adata.obs_names), list(adata.var_names)]
    assert names == ([columns, rows] if transpose else [rows, columns])


@attack(SEEDS, several(NAMES, 3), st.booleans(), n=max(1, EXAMPLES // 4))
def test_results_in_files(tmp_path, seed, names, strings):
    """What is stored can be stored, and comes back as it was."""
    adata, path = tiny(seed), tmp_path / "cells.zarr"
    adata.obs["type"] = adata.obs["type"].map(dict(zip(["t0", "t1", "t2"], names, strict=True)))
    strings = strings or pd.__version__ >= "3"  # whose other texts anndata does not write
    with pd.option_context("future.infer_string", strings):
        pp.select_genes(adata, 3)
        tl.evaluate_panel(adata, "glfs", "type")
        tl.explain_panel(adata, labels="type")
        adata.write_zarr(path)
        again = ad.read_zarr(path)
        same(held(again), held(adata), "cells", 0.0)
        tl.evaluate_panel(again, {"one": "glfs", "other": ["0"]}, labels="type")


#: What is changed: a part of a matrix, a place in it, and the value.
DAMAGES = {
    "beyond": ("indices", 100, 765),
    "negative": ("indices", 3, -7),
    "falling": ("indptr", 5, 10**6),
    "late": ("indptr", -1, 10**6),
    "shifted": ("indptr", 0, 1),
}


@pytest.fixture
def cells(pbmc):
    return ad.AnnData(sparse.csr_matrix(pbmc.X), obs=pbmc.obs[["phase"]], var=pbmc.var[[]])


def damaged(matrix, damage):
    part, place, value = DAMAGES[damage]
    getattr(matrix, part)[place] = value
    return matrix


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_a_matrix_in_memory(cells, form, damage):
    matrix = damaged(cells.X.asformat(form), damage)
    with refused(InvalidValue, "X"):
        glfs_bio.GLFS(5).fit(matrix)
    with refused(InvalidValue, "X"):
        LapRLSClassifier().fit(matrix, cells.obs["phase"])
    cells.layers["counts"] = matrix
    with refused(InvalidValue, "layer"):
        pp.select_genes(cells, 5, layer="counts")
    assert "glfs" not in cells.uns


def test_counts_graph_and_spaces(cells):
    def random(n_columns):
        return sparse.random(700, n_columns, 0.05, format="csr", random_state=0)

    cells.obsp["connectivities"] = damaged(sparse.csr_matrix(random(700)), "negative")
    cells.uns["neighbors"] = {"connectivities_key": "connectivities"}
    cells.obsm["space"] = damaged(random(30), "beyond")
    cells.layers["counts"] = damaged(cells.X.copy(), "negative")
    limits = Limits(total_counts={"cell": 100.0}, counts_layer="counts")
    for argument, options in {
        "neighbors_key": {"neighbors_key": "neighbors"},
        "use_rep": {"use_rep": "space"},
        "preserve": {"preserve": "space"},
        "counts_layer": {"limits": limits},
    }.items():
        with refused(InvalidValue, argument):
            pp.select_genes(cells, 5, **options)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file(cells, tmp_path, damage):
    """Read, and by blocks; the process would end."""
    path, (part, place, value) = tmp_path / "cells.h5ad", DAMAGES[damage]
    cells.write_h5ad(path)
    with h5py.File(path, "r+") as file:
        file[f"X/{part}"][place] = value
    with refused(InvalidValue, "path"):
        io.read_cells(path)
    if damage != "shifted":
        with pytest.raises(ValueError, match="X"):
            pp.select_genes(ad.read_h5ad(path, backed="r"), 5)


def test_other_formats():
    matrix = sparse.random(20, 30, 0.3, format="csr", random_state=0)
    for form in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia"):
        check_indices(matrix.asformat(form), "X")
    for empty in (sparse.csr_matrix((0, 5)), sparse.csr_array((5, 0)), np.zeros((2, 2))):
        check_indices(empty, "X")
    coordinates = matrix.tocoo(copy=True)
    coordinates.coords[1][0] = 30
    with refused(InvalidValue, "X"):
        check_indices(coordinates, "X")
