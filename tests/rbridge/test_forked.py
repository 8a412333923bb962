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

#: Processes for the parts of a stability, in an R that ends afterwards.
STABILITY = """
x <- suppressMessages(glfs_select_genes(glfs_example(), 8))
two <- BiocParallel::MulticoreParam(2)
examine <- function(...)
    suppressMessages(glfs_stability(x, n_resamples = 4, random_state = 0, ...))
stopifnot(identical(S4Vectors::metadata(examine()), S4Vectors::metadata(examine(BPPARAM = two))))
failed <- tryCatch(examine(BPPARAM = two, n_comps = 0), error = conditionMessage)
stopifnot(grepl("n_comps = 0", failed))
"""


def test_workers_of_a_stability(rscript):
    """They give what one process gives, and leave nothing behind."""
    process = rscript(STABILITY, start_new_session=True)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "leaked" not in err


def test_mclapply(rscript, monkeypatch):
    """With threads of OpenMP in R's own process, for which its children would wait for ever."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    process = rscript(WORKERS, start_new_session=True)
    try:
        _, err = process.communicate(timeout=300)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)  # its children too
        raise
    assert process.returncode == 0, err
