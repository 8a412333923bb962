"""Arguments of R's functions are those of Python, on every page, and R's file is as it is made."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from glfs_bio.rbridge import formals

R_PACKAGE = Path(__file__).parents[2] / "r_bridge" / "glfsbio"


def test_arguments_are_those_of_python(ri):
    """With their defaults."""
    wrong = []
    for name, function in (formals.FUNCTIONS | formals.RECORDS).items():
        told = ri.evalr(f"""local({{
            all <- formals(glfsbio::glfs_{name})
            c(rbind(names(all), vapply(all, deparse1, "")))
        }})""")
        arguments = dict(zip(told[::2], told[1::2], strict=True))
        for one in inspect.signature(function).parameters.values():
            if one.kind is one.VAR_KEYWORD or one.name in {*formals.NOT_IN_R, "n_jobs"}:
                continue
            if one.name == "random_state" and arguments["random_state"] == "NULL":
                continue
            default = None if one.default in {one.empty, "recorded"} else one.default
            written = arguments[formals.RENAMED.get(one.name, one.name)] or "NULL"
            if default is None:
                is_same = written == "NULL"
            else:
                several = default if isinstance(default, tuple) else (default,)
                is_same = tuple(ri.evalr(written)) == several
            if not is_same:
                wrong.append((name, one.name, written, default))
    assert not wrong


def test_names_of_other_packages_are_understood():
    for function, tried, said in (
        ("select_genes", "batch", "block"),
        ("select_genes", "exprs_values", "assay.type"),
        ("select_genes", "n_top_genes", "n_genes"),
        ("select_genes", "subset.row", "x[genes, ]"),
        ("structure", "use_dimred", "dimred"),
        ("evaluate_panel", "features", "panel"),
        ("evaluate_panel", "group.by", "labels"),
        ("explain_panel", "labelz", "labels"),
    ):
        assert said in formals.meant(function, tried)


def test_what_is_meant_is_an_argument():
    """And what is meant is one of some function."""
    every = {
        name: set(formals.argument_names(name)) for name in formals.FUNCTIONS | formals.RECORDS
    }
    assert set(formals._TRIED) <= set().union(*every.values())
    assert formals.meant("markers", "zzzzz") is None


def test_the_generics_are_up_to_date():
    """`make r-generics` writes them."""
    file = R_PACKAGE / "R" / "generics.R"
    assert file.read_text(encoding="utf-8") == formals.generics()


def test_every_argument_is_on_its_page():
    for file in (R_PACKAGE / "man").glob("*.Rd"):
        page = file.read_text(encoding="utf-8")
        for name in [name for name in formals.FUNCTIONS if f"\\alias{{glfs_{name}}}" in page]:
            told = {
                one.strip().replace("\\dots", "...")
                for item in re.findall(r"\\item\{([^}]*)\}\{", page)
                for one in item.split(",")
            }
            assert set(formals.formals(name)) <= told, file.name
