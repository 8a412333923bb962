"""R forks without Python's knowledge, which `parallel` and BiocParallel do on Linux."""

from __future__ import annotations

import os
import signal

# Of up to 15 components neighbours are looked for in a tree, without OpenMP.
WORKERS = """
set.seed(1)
x <- matrix(rnorm(60 * 800, 1, 0.3), 60, dimnames = list(paste0("g", 1:60), NULL))
select <- function(i) glfs_select_genes(x, 6, n_comps = 20)$glfs_score
here <- select(0)
there <- parallel::mclapply(1:2, select, mc.cores = 2)
for (one in there) stopifnot(all.equal(one, here, tolerance = 1e-10))
"""


def test_mclapply(rscript, monkeypatch):
    """With threads of OpenMP in R's own process, for which its children would wait for ever."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    process = rscript(WORKERS, start_new_session=True)
    try:
        _, err = process.communicate(timeout=120)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)  # its children too
        raise
    assert process.returncode == 0, err
