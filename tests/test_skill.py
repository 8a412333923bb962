"""What agents read: SKILL.md does what it says, and llms.txt points to pages that exist."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import glfs_bio
from glfs_bio.cli import COMMANDS, app, with_options

ROOT = Path(__file__).parents[1]
SKILL, LLMS = ROOT / "skills" / "glfs-bio" / "SKILL.md", ROOT / "llms.txt"
HOWTO = ROOT / "docs" / "howto"
#: Commands with what they print, and code with the block of what it prints, if any.
BLOCK = re.compile(
    r"^```console\n(.*?)^```|^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.M | re.S
)


def read(path: Path) -> str:
    if not path.exists():
        pytest.skip(f"a source distribution has no {path.name}")
    return path.read_text("utf-8")


def in_shell(block: str) -> str:
    """Return a block of commands with what they print now."""
    shown = ""
    for line in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        words = shlex.split(line)
        assert words[0] == "glfs-bio"
        done = CliRunner().invoke(app, words[1:], prog_name="glfs-bio")
        shown += f"$ {line}\n{done.output}"
    return shown.replace(f'"version": "{glfs_bio.__version__}"', '"version": "…"')


def in_python(code: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, SKILL.name, "exec"), {})
    return printed.getvalue()


@pytest.mark.filterwarnings("ignore")
def test_the_skill_shows_what_its_commands_print(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for lines, code, printed in BLOCK.findall(read(SKILL)):
        if lines:
            assert in_shell(lines) == lines
        else:
            assert in_python(code) == printed
    order = Path("order.csv").read_text("utf-8").splitlines()
    assert len(order) > 25


def test_its_head_and_size():
    _, head, text = read(SKILL).split("---\n", 2)
    said = yaml.safe_load(head)
    assert set(said) == {"name", "description"}
    assert said["name"] == SKILL.parent.name
    assert len(said["description"]) <= 1024
    assert len(read(SKILL).splitlines()) <= 150
    for name in re.findall(r"glfs-bio ([a-z]+)", text):
        assert name in COMMANDS, name


def test_options_that_it_names_exist():
    every = {
        one for name in COMMANDS for option in with_options(name).params for one in option.opts
    }
    assert set(re.findall(r"--[a-z][a-z-]*[a-z]", read(SKILL))) <= {*every, "--schema", "--help"}


def test_llms_txt_points_to_pages_and_files():
    urls = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]["urls"]
    title, text = read(LLMS).split("\n\n", 1)
    assert title == "# glfs_bio"
    assert text.startswith("> ")
    links = re.findall(r"^- \[[^\]]+\]\((\S+?)\): \S", text, re.MULTILINE)
    assert len(links) == text.count("\n- [") == text.count("](")
    for link in links:
        page = link.removeprefix(f"{urls['Documentation']}/")
        file = link.removeprefix(f"{urls['Repository']}/blob/main/")
        assert (page != link) != (file != link), link
        there = ROOT / (file if file != link else Path("docs", page).with_suffix(".md"))
        assert there.exists(), link
    howto = {f"{urls['Documentation']}/howto/{page.stem}.html" for page in HOWTO.glob("*.md")}
    assert howto <= set(links)
    assert {SKILL.relative_to(ROOT).as_posix(), "README.md"} <= {
        link.partition("/blob/main/")[2] for link in links
    }
