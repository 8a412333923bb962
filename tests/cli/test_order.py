"""``glfs-bio order``: what it writes, and bad command lines."""

from __future__ import annotations

import pandas as pd
import pytest
from typer.testing import CliRunner

import glfs_bio
from glfs_bio.cli import app, with_options

ORDER = "order cells.h5ad glfs"
XENIUM = f"{ORDER} --platform xenium_v1"

DATA = [
    ("order missing.h5ad glfs", "missing.h5ad"),
    ("order cells.h5ad nope", "PANEL nope"),
    (f"{ORDER} --platform visium", "--platform visium"),
    (f"{ORDER} --orderable no.csv", "no.csv"),
    (f"{ORDER} --orderable cells.h5ad", "cells.h5ad"),
    (f"{XENIUM} --orderable few.csv", "CST3"),
    (f"{XENIUM} --orderable few.csv --refused replace", "--refused replace"),
    (f"{ORDER} --refused maybe", "--refused maybe"),
    (f"{ORDER} --catalogue nope", "--catalogue nope"),
    (f"{ORDER} --catalogue no.csv", "no.csv"),
    (f"{ORDER} --exclude /(/", "--exclude"),
    (f"{ORDER} --labels nope", "--labels nope"),
    (f"{ORDER} --counts nope", "nope"),
    (f"{ORDER} --min-probes 0", "--min-probes 0"),
    (f"{XENIUM} --backups 2", "--backups 2"),
    (f"{ORDER} --backups -1", "--backups -1"),
    (f"{ORDER} --probe-sets 3", "--probe-sets 3"),
    (f"{XENIUM} --probe-sets 9", "--probe-sets 9"),
    (f"{XENIUM} --force NOPE,CD3D", "--force"),
    (f"{ORDER} --symbols nope", "--symbols nope"),
    (f"{ORDER} --ids nope", "--ids nope"),
    (f"{ORDER} --species unicorn", "--species unicorn"),
    (f"{ORDER} --nomenclature no.txt", "no.txt"),
    (f"{ORDER} --key-added=", "--key-added"),
    (f"{ORDER} --transpose", "--transpose"),
    (f"{ORDER} --modality nope", "--modality nope"),
    (f"{ORDER} --var-names gene_ids", "--var-names"),
    (f"{ORDER} --order no/order.csv", "no"),
    (f"{XENIUM} --order order.xlsx", "order.xlsx"),
    (f"{ORDER} --reference a.csv", "--reference a.csv"),
    (f"{ORDER} --reference a.zip", "--labels and --counts: name both"),
    (f"{ORDER} -o out.csv", "--output out.csv"),
    (f"{ORDER} --table t.xls", "--table t.xls"),
]
#: Options that take no value, or have rows of other commands.
NOTHING_WRONG = {"--backed", "--log1p", "--overwrite", "--json", "--debug", "--help"}


@pytest.fixture(scope="module")
def _folder(tmp_path_factory, _pbmc):
    folder = tmp_path_factory.mktemp("orders")
    adata = _pbmc[::2].copy()
    adata.layers["counts"] = adata.X.ceil()
    glfs_bio.pp.select_genes(adata, 6)
    adata.write_h5ad(folder / "cells.h5ad")
    (folder / "few.csv").write_text("symbol,ensembl_id\nCD3D,ENSG00000167286\n")
    vendor = glfs_bio.tl.resolve_genes(adata, inplace=False)
    vendor = vendor[(vendor["symbol"] != "") & (vendor["name"] != "CST3")]
    vendor[["symbol", "id"]].to_csv(folder / "vendor.csv", index=False)
    return folder


@pytest.fixture
def folder(_folder, monkeypatch):
    monkeypatch.chdir(_folder)
    return _folder


@pytest.mark.parametrize(("line", "named"), DATA)
def test_data_or_values(folder, only_own_options, line, named):
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    result = CliRunner().invoke(app, line.split())
    assert result.exit_code == 1, result.output
    told = [text for text in result.stderr.splitlines() if text and "Warning: " not in text]
    assert len(told) == 1
    assert named in told[0]
    only_own_options(line.split()[0], told[0])
    assert "unexpected" not in told[0]
    assert result.stdout == ""
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_every_option_has_a_row():
    words = {word for line, _ in DATA for word in line.replace("=", " ").split()}
    limits = set(glfs_bio.Limits.__dataclass_fields__)
    options = [
        option.opts
        for option in with_options("order").params
        if option.opts[0][0] == "-" and option.name not in limits
    ]
    assert not [names for names in options if not (words | NOTHING_WRONG) & {*names}]


def test_an_order_and_its_reference(folder, tmp_path):
    words = [
        *f"{XENIUM} --orderable vendor.csv --refused replace --labels bulk_labels".split(),
        *("--counts", "counts", "--order", str(tmp_path / "order.csv")),
        *("--reference", str(tmp_path / "reference.zip"), "--table", str(tmp_path / "t.csv")),
        *("-o", str(tmp_path / "out.h5ad")),
    ]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "CST3" in result.stderr
    panel = glfs_bio.io.read_panel(tmp_path / "order.csv")
    assert len(panel) == 6
    assert "CST3" not in panel
    assert list(pd.read_csv(tmp_path / "t.csv")["gene"]) == panel
    again = glfs_bio.io.read_cells(tmp_path / "out.h5ad")
    assert list(again.uns["glfs_order"]["table"]["gene"]) == panel
    assert (tmp_path / "reference.zip").exists()


def test_add_ons(folder, tmp_path):
    result = CliRunner().invoke(app, f"{ORDER} --platform merscope --catalogue CST3".split())
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("rank\tgene\tid")
    assert len(lines) == 6
    assert "on the catalogue" in result.stderr
