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
from every_call import LINES
from typer.testing import CliRunner

from glfs_bio._anndata import results
from glfs_bio.cli import COMMANDS, app
from glfs_bio.codec import plain

#: Lines of the commands that write no cells.
READING = {
    "efficiency": "IN.h5ad IN.h5ad --labels type --counts-layer counts --spatial-layer counts",
    "export": "IN.h5ad genes.csv scores.rnk",
    "reference": "IN.h5ad reference.zip --labels type --ids symbol",
    "report": "IN.h5ad -o report.html",
    "demo": "",
}
#: Files of those that have no option for each.
FILES = {
    "export": ["genes.csv", "scores.rnk"],
    "reference": ["reference.zip"],
    "report": ["report.html"],
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
    content = json.loads(CliRunner().invoke(app, ["--schema"]).stdout)
    jsonschema.Draft202012Validator.check_schema(content)
    return jsonschema.Draft202012Validator(content)


def read(done, schema):
    """Return the document, which is all of stdout."""
    assert done.stdout.count("\n") == 1
    document = json.loads(done.stdout, parse_constant=pytest.fail)
    schema.validate(document)
    return document


@pytest.mark.filterwarnings("default::UserWarning")
def test_a_document_and_nothing_else(run, schema, quick_umaps):
    lines = LINES | READING
    assert set(lines) == set(COMMANDS)
    for name, line in lines.items():
        with quick_umaps():
            done = run(f"{name} {line} --json")
        document = read(done, schema)
        assert document["command"] == name
        assert [file["path"] for file in document["files"]] == FILES.get(name, [])
        messages = [line.removeprefix("glfs-bio: ") for line in done.stderr.splitlines()]
        assert sorted(messages) == sorted(document["notes"] + document["warnings"])
        result = document["result"]
        assert ("kind" in result) == (document["key"] is not None), name


def test_the_result_is_the_record_and_the_table_what_is_printed(run, schema):
    line = f"extend {LINES['extend']} --overwrite -o out.h5ad"
    document = read(run(f"{line} --json"), schema)
    assert document["files"] == [{"option": "--output", "path": "out.h5ad"}]
    result, adata = document["result"], ad.read_h5ad("out.h5ad")
    assert document["key"] == results.last(adata)
    record = plain(adata.uns[document["key"]])
    assert {**result, "table": 0} == {**record, "table": 0}
    printed = run(line).stdout.splitlines()
    assert len(result["table"]) == len(printed) - 1
    assert list(result["table"][0]) == printed[0].split("\t")


#: Lines that are refused, with the argument, and words of the message.
REFUSED = {
    "select no.h5ad": ("IN", ("no.h5ad", "file")),
    "select IN.h5ad -o IN.h5ad": ("--output", ("IN.h5ad", "--overwrite")),
    "evaluate IN.h5ad nope": ("PANEL", ("nope",)),
}


def test_an_error_is_a_document_too(run, schema):
    for line, (argument, words) in REFUSED.items():
        done = run(f"{line} --json", 1)
        document = read(done, schema)
        assert set(document) == {"command", "version", "error", "notes", "warnings"}
        error = document["error"]
        assert error["argument"] == argument
        assert all(word in error["message"] for word in words)
        assert done.stderr.removeprefix("glfs-bio: ").strip() == error["message"]


def test_a_line_that_cannot_be_understood_has_none(run):
    done = run("select --json", 2)
    assert done.stdout == ""
    assert "Missing argument" in done.stderr


@pytest.mark.filterwarnings("default::UserWarning")
def test_warnings_are_apart_from_notes(run, schema):
    document = read(run("select IN.h5ad --include g1,none --missing warn -n 3 --json"), schema)
    assert any(re.search(r"\bnone\b", line) for line in document["warnings"])
    assert document["notes"]


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
        "file": "a/b",
        "params": {"labels": None, "limits": {"cost": None}},
    }
