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
if not SKILL.exists():
    pytest.skip("a source distribution has no skill", allow_module_level=True)
#: Commands with what they print, and code with the block of what it prints, if any.
BLOCK = re.compile(
    r"^```console\n(.*?)^```|^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.M | re.S
)


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
    text = SKILL.read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    for lines, code, printed in BLOCK.findall(text):
        if lines:
            assert in_shell(lines) == lines
        else:
            assert in_python(code) == printed
    assert len(Path("order.csv").read_text("utf-8").splitlines()) > 25

    head = yaml.safe_load(text.split("---\n", 2)[1])
    assert head.keys() == {"name", "description"}
    assert head["name"] == SKILL.parent.name
    assert len(head["description"]) <= 1024
    options = {
        one for name in COMMANDS for param in with_options(name).params for one in param.opts
    }
    assert set(re.findall(r"--[a-z][a-z-]*[a-z]", text)) <= {*options, "--schema", "--help"}
    assert set(re.findall(r"glfs-bio ([a-z]+)", text.split("---\n", 2)[2])) <= set(COMMANDS)


def test_llms_txt_points_to_pages_and_files():
    text = LLMS.read_text("utf-8")
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    pages, files = f"{urls['Documentation']}/", f"{urls['Repository']}/blob/main/"
    links = re.findall(r"^- \[[^\]]+\]\((\S+?)\): \S", text, re.MULTILINE)
    assert len(links) == text.count("\n- [") == text.count("](")
    targets = set()
    for link in links:
        assert link.startswith((pages, files)), link
        page = Path("docs", link.removeprefix(pages)).with_suffix(".md")
        targets.add(page if link.startswith(pages) else Path(link.removeprefix(files)))
    assert [target for target in sorted(targets) if not (ROOT / target).exists()] == []
    howto = {path.relative_to(ROOT) for path in (ROOT / "docs" / "howto").glob("*.md")}
    assert howto | {SKILL.relative_to(ROOT), Path("README.md")} <= targets
