"""Sphinx, as the scverse template has it, without anything that needs a network."""

from __future__ import annotations

import os
import re
import sys
import tomllib
import warnings
from importlib.metadata import version as installed
from pathlib import Path

import jupytext
from sphinx.ext.napoleon import NumpyDocstring

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
# sphinx-autodoc-typehints, not us
warnings.filterwarnings("ignore", r".*_RstSnippetParser\.set_application")

project = "glfs_bio"
author = "The glfs_bio developers"
copyright = author
version = release = installed("glfs-bio")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_autodoc_typehints",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxcontrib.bibtex",
    "internal_links",
    "outputs",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_extra_path = ["../llms.txt"]
html_css_files = ["glfs.css"]
html_theme = "sphinx_book_theme"
html_title = project
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "use_download_button": False,
    "navbar_persistent": [],  # a second search box, above the one of the sidebar
}

bibtex_bibfiles = ["../paper/paper.bib"]
bibtex_reference_style = "author_year"
autosummary_generate = True
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
typehints_document_rtype = False
always_use_bars_union = True
suppress_warnings = [
    # types that are imported for the type checker only, or have no page here
    "sphinx_autodoc_typehints.forward_reference",
    "sphinx_autodoc_typehints.guarded_import",
    # cells of vignettes that are shown and not run
    "myst-nb.lexer",
]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
_project = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["project"]
# `repo:benchmarks/results/peers.md` is a file of the repository that has no page here
myst_url_schemes = {
    **dict.fromkeys(("http", "https", "mailto")),
    "repo": f"{_project['urls']['Repository']}/blob/main/{{{{path}}}}",
}
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / "notebooks")
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True
# bars of progress, which no page shows: Jupyter has rich take its streams for a terminal
os.environ["PYTHONWARNINGS"] = "ignore:IProgress not found"
os.environ["TTY_COMPATIBLE"] = "0"
# pages show figures, wherever else the environment has matplotlib draw them
os.environ.pop("MPLBACKEND", None)
# `make docs-links LINK_HOSTS="pypi.org"` looks at these hosts only, where others cannot be reached
_hosts = os.environ.get("LINK_HOSTS", "").replace(",", " ").split()
linkcheck_ignore = [rf"https?://(?!({'|'.join(map(re.escape, _hosts))})(/|$))"] if _hosts else []
linkcheck_timeout = 20
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

_NOT_RUN = """
```{note}
This page was built without its data: the code is shown and was not run.
[The benchmarks](repo:benchmarks/README.md) list the files, which are read from the folder in
`GLFS_BIO_DATA`.
```
"""


def _lacks_data(page: Path) -> bool:
    folder = os.environ.get("GLFS_BIO_DATA")
    files = jupytext.read(page).metadata.get("data", [])
    return bool(files) and not (folder and all((Path(folder) / name).exists() for name in files))


_not_run = {
    f"{folder}/{path.stem}"
    for folder in ("vignettes", "howto")
    for path in (HERE / folder).glob("*.md")
    if _lacks_data(path)
}
nb_execution_excludepatterns = [f"{name}.md" for name in sorted(_not_run)]


def _say_that_it_was_not_run(app, docname: str, source: list[str]) -> None:
    if docname in _not_run:
        heading = source[0].index("\n", source[0].index("\n# ") + 1)
        source[0] = source[0][:heading] + "\n" + _NOT_RUN + source[0][heading:]


def _returns_as_prose(self: NumpyDocstring, section: str) -> list[str]:
    """What a function returns is told in sentences here, as in scanpy, and not as types."""
    lines = self._dedent(self._consume_to_next_section())
    if lines[:1] == [":"]:  # by which sphinx-autodoc-typehints says that there is no type
        del lines[0]
    return self._format_block(":returns: ", lines)


def setup(app) -> None:
    """Hooks of these pages."""
    NumpyDocstring._parse_returns_section = _returns_as_prose
    app.connect("source-read", _say_that_it_was_not_run)
