"""Words of the shell in refusals."""

from __future__ import annotations

from pathlib import Path

from glfs_bio.cli.words import Spelling, door
from glfs_bio.errors import (
    LOG_NORMALISE,
    NO_VALUE,
    VAR,
    FileRefused,
    InvalidValue,
    NotFound,
    arg,
    call,
    shown,
)

OPTIONS = {
    "n_genes": Spelling("--n-genes"),
    "symbols": Spelling("--symbols"),
    "overwrite": Spelling("--overwrite", is_flag=True),
    "transpose": Spelling("--transpose", is_flag=True, opposite="--no-transpose"),
    "panel": Spelling("PANEL"),
    "preserve": Spelling("--preserve"),
    "source": Spelling("IN"),
    "log1p": Spelling("--log1p", is_flag=True),
}
REFUSALS = [
    (InvalidValue("n_genes", 0, "is too few"), "--n-genes 0 is too few."),
    (InvalidValue("transpose", False, "is bad"), "--no-transpose is bad."),
    (InvalidValue("panel", ["CD3D", "LYZ"], "is bad"), "PANEL CD3D,LYZ is bad."),
    (InvalidValue("preserve['a']", 0.0, "is bad"), "--preserve a=0.0 is bad."),
    (InvalidValue("adata", NO_VALUE, "has 2 cells"), "IN has 2 cells."),
    (
        FileRefused("path", Path("a.txt"), "exists", f"pass {arg('overwrite', True)}"),
        "a.txt exists: pass --overwrite.",
    ),
    (
        NotFound("symbols", "a", f"is not in {VAR}", f"run {call('tl.enrich')}"),
        "--symbols a is not in var: run glfs-bio enrich.",
    ),
    (
        InvalidValue("n_genes", 0, "x", f"call {call('io.read_cells')}"),
        "--n-genes 0 x: call glfs_bio.io.read_cells in Python.",
    ),
    (InvalidValue("X", NO_VALUE, "is raw", LOG_NORMALISE), "IN is raw: pass --log1p."),
    (
        InvalidValue("n_genes", "x", f"is none of {shown('y', 'z')}"),
        "--n-genes x is none of y, z.",
    ),
]


def test_words_of_the_shell():
    words = door(OPTIONS)
    for refusal, expected in REFUSALS:
        assert refusal.render(words) == expected
