"""Lines on stderr."""

from __future__ import annotations

import anndata as ad
import scanpy as sc

LINES = [
    "select cells.h5ad --n-genes 3 --n-comps 5",
    "evaluate cells.h5ad genes.txt --n-comps 5 --n-random 2",
    "extend cells.h5ad genes.txt --n-extra 1 --n-comps 5",
]


def test_notes_are_said_as_warnings_are(run, clusters):
    cells = ad.AnnData(clusters)
    cells.X[30:] += 100.0  # two groups that no neighbours join
    cells.write_h5ad("cells.h5ad")
    result = run("select cells.h5ad --n-genes 3 --n-comps 5 --n-neighbors 4")
    (note,) = [line for line in result.stderr.splitlines() if "connected components" in line]
    assert note.startswith("glfs-bio: Note: ")


def test_a_result_is_said_once(run, clusters, tmp_path):
    """By the shell, whatever a notebook would hear."""
    ad.AnnData(clusters).write_h5ad("cells.h5ad")
    (tmp_path / "genes.txt").write_text("0\n1\n")
    before = sc.settings.verbosity
    for line in LINES:
        for verbosity in (0, 3):
            sc.settings.verbosity = verbosity
            try:
                result = run(line)
            finally:
                sc.settings.verbosity = before
            assert result.exit_code == 0, result.stderr
            said = [line for line in result.stderr.splitlines() if "% of the structure" in line]
            assert len(said) == 1, line
