"""``--json``: one document on stdout, whatever happens, in the form of its schema."""

from __future__ import annotations

import json
import re
from pathlib import Path

import anndata as ad
import jsonschema
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from every_call import LINES
from typer.testing import CliRunner

import glfs_bio
from glfs_bio._anndata import results
from glfs_bio.cli import COMMANDS, app, commands_select
from glfs_bio.codec import plain

#: Lines of the commands that write no cells.
EVERY = LINES | {
    "rank": "IN.h5ad --method variance --n-genes 3",
    "efficiency": "IN.h5ad IN.h5ad --labels type --counts-layer counts --spatial-layer counts",
    "export": "IN.h5ad genes.csv scores.rnk",
    "report": "IN.h5ad --basis none -o report.html",
    "demo": "-o demo",
}
#: Files of those that have no option for each.
FILES = {
    "export": ["genes.csv", "scores.rnk"],
    "report": ["report.html"],
    "demo": ["demo/pbmc68k_panel.h5ad", "demo/genes.txt", "demo/panel.png"],
}


@pytest.fixture
def run(run, copied_inputs):
    copied_inputs()

    def checked(line, code=0):
        done = run(line)
        assert done.exit_code == code, done.output
        return done

    return checked


@pytest.fixture(scope="module")
def schema():
    """What `glfs-bio --schema` prints."""
    found = json.loads(CliRunner().invoke(app, ["--schema"]).stdout)
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def read(done, schema):
    """Return the document, which is all of stdout."""
    assert done.stdout.count("\n") == 1
    found = json.loads(done.stdout, parse_constant=pytest.fail)
    schema.validate(found)
    return found


def test_every_command_has_a_line_and_a_schema(schema):
    assert set(EVERY) == set(COMMANDS) == set(schema.schema["$defs"])


@pytest.mark.parametrize("name", EVERY)
def test_a_document_and_nothing_else(run, schema, name, monkeypatch):
    if name == "demo":  # what takes its time has a test
        monkeypatch.setattr(sc.pp, "neighbors", lambda *_, **__: None)
        monkeypatch.setattr(commands_select, "_label_accuracy", lambda _: 0.5)
        monkeypatch.setattr(glfs_bio.pl, "panel", lambda *_, save: save.write_bytes(b""))
    done = run(f"{name} {EVERY[name]} --json")
    found = read(done, schema)
    assert found["command"] == name
    assert [one["path"] for one in found["files"]] == FILES.get(name, [])
    said = [line.removeprefix("glfs-bio: ") for line in done.stderr.splitlines()]
    assert sorted(said) == sorted(found["notes"] + found["warnings"])
    result = found["result"]
    assert ("kind" in result) == (found["key"] is not None)
    assert ("table" in result) == (name not in {"export", "report"})
    no_table = json.dumps(result | {"table": []})
    assert len(no_table) < 10_000  # nothing that has a value for each of 200 cells


def test_the_result_is_the_record_and_the_table_what_is_printed(run, schema):
    line = f"extend {EVERY['extend']} --overwrite -o out.h5ad"
    found = read(run(f"{line} --json"), schema)
    assert found["files"] == [{"option": "--output", "path": "out.h5ad"}]
    result, adata = found["result"], ad.read_h5ad("out.h5ad")
    assert found["key"] == results.last(adata)
    record = plain(adata.uns[found["key"]])
    assert {**result, "table": 0} == {**record, "table": 0}
    printed = run(line).stdout.splitlines()
    assert len(result["table"]) == len(printed) - 1
    assert list(result["table"][0]) == printed[0].split("\t")
    there = read(run(f"{line} --json --table out.csv"), schema)
    assert "table" not in there["result"]
    assert there["files"][-1] == {"option": "--table", "path": "out.csv"}


#: Lines that are refused, with exit code, argument, value, and a word of the remedy.
REFUSED = {
    "select no.h5ad": (1, "IN", "no.h5ad", "file"),
    "select IN.h5ad -o IN.h5ad": (1, "--output", "IN.h5ad", "--overwrite"),
    "evaluate IN.h5ad nope": (1, "PANEL", "nope", ""),
    "select IN.h5ad -o -": (1, "--output", None, "file"),
    "select": (2, None, None, "glfs-bio select --help"),
    "select IN.h5ad --n-genes many": (2, None, None, "glfs-bio select --help"),
    "nope IN.h5ad": (2, None, None, "glfs-bio --help"),
}


@pytest.mark.parametrize("line", REFUSED)
def test_an_error_is_a_document_too(run, schema, line):
    code, argument, value, remedy = REFUSED[line]
    done = run(f"{line} --json", code)
    found = read(done, schema)
    assert set(found) == {"command", "version", "error", "notes", "warnings"}
    error = found["error"]
    assert (error["argument"], error["value"]) == (argument, value)
    assert (remedy or "") in (error["remedy"] or error["problem"])
    if code == 1:
        assert done.stderr.removeprefix("glfs-bio: ").strip() == error["message"]
        if not line.endswith("-"):  # stdout is free otherwise
            assert run(line, code).stdout == ""


@pytest.mark.filterwarnings("default::UserWarning")
def test_warnings_are_apart_from_notes(run, schema):
    found = read(run("select IN.h5ad --include g1,none --missing warn -n 3 --json"), schema)
    assert any(re.search(r"\bnone\b", line) for line in found["warnings"])
    assert found["notes"]


def test_plain_values():
    table = pd.DataFrame(
        {
            "kind": pd.Categorical(["a", None]),
            "at": pd.to_datetime(["2024-01-02", None]),
            "n": pd.array([1, None], dtype="Int64"),
            "share": np.array([np.nan, 0.5], dtype=np.float32),
        },
        index=pd.Index(["None", "g2"], name="gene"),
    )
    record = {
        "table": table,
        "shape": np.array([[np.inf, 1.0]]),
        "ok": np.bool_(True),
        "n": np.int64(3),
        "file": Path("a/b"),
        "params": {"labels": "None", "limits": 'json:{"cost": NaN}'},
    }
    assert plain(record) == {
        "table": [
            {"gene": "None", "kind": "a", "at": "2024-01-02T00:00:00", "n": 1, "share": None},
            {"gene": "g2", "kind": None, "at": None, "n": None, "share": 0.5},
        ],
        "shape": [[None, 1.0]],
        "ok": True,
        "n": 3,
        "file": "a/b",
        "params": {"labels": None, "limits": {"cost": None}},
    }
