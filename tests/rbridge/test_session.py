"""Both routes as users take them: R with a Python in it, and Python with an R in it.

R, its packages and Python take seconds to start, so that a session has many tests.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import anndata as ad
import numpy as np
import pytest
from scipy import sparse

from glfs_bio import rbridge

LIBRARIES = os.environ.get("LD_LIBRARY_PATH")
R_BRIDGE = Path(__file__).resolve().parents[2] / "r_bridge"

#: Targets for these tests, in the Python of a session: one that computes until it is interrupted,
#: once it has said so, and one that only counts what has arrived.
TARGETS = """
import itertools
from glfs_bio.rbridge import calls

def forever():
    print("ready", flush=True)
    for _ in itertools.count():
        pass

calls.TARGETS.update(forever=forever, stored=lambda cells: {"stored": cells.X.nnz})
"""
ADD_TARGETS = f"""
invisible(glfs_setup(quiet = TRUE))
reticulate::py_run_string({TARGETS!r})
"""
SLOW = """
slow <- function() glfsbio:::call_python("forever")
few <- function() glfsbio::glfs_select_genes(
    matrix(sin(1:4500)^2, 50, dimnames = list(seq_len(50), NULL)), 5
)
"""
GROWTH = """
size <- function() {
    line <- grep("VmRSS", readLines("/proc/self/status"), value = TRUE)
    as.numeric(gsub("[^0-9]", "", line)) / 1024
}
x <- Matrix::rsparsematrix(500, 200, 0.1)
rownames(x) <- paste0("gene", seq_len(500))
once <- function(i) {
    parts <- glfsbio:::as_cells(glfsbio:::read_object(x))
    if (i %% 5 == 0)
        try(glfsbio:::call_python("stored", no = parts), silent = TRUE)
    else
        stopifnot(glfsbio:::call_python("stored", cells = parts)$stored == length(x@x))
}
some <- function(i) {
    for (j in 1:25) once(j)
    gc() # else R's heap grows, and the system does not get it back
}
some()
before <- size()
for (i in 1:3) some()
cat("grown by", size() - before, "MB\\n")
"""
#: Processes of R: for the parts of a stability, and others that select themselves.  Of more than 15
#: components neighbours are looked for with OpenMP, not in a tree.
WORKERS = """
x <- suppressMessages(glfs_select_genes(glfs_example(), 8))
two <- BiocParallel::MulticoreParam(2)
examine <- function(...)
    suppressMessages(glfs_stability(x, n_resamples = 2, random_state = 0, ...))
stopifnot(identical(S4Vectors::metadata(examine()), S4Vectors::metadata(examine(BPPARAM = two))))
failed <- tryCatch(examine(BPPARAM = two, n_comps = 0), error = conditionMessage)
stopifnot(grepl("n_comps = 0", failed))

set.seed(1)
x <- matrix(rnorm(60 * 800, 1, 0.3), 60, dimnames = list(paste0("g", 1:60), NULL))
select <- function(i) glfs_select_genes(x, 6, n_comps = 20)$glfs_score
here <- select(0)
there <- parallel::mclapply(1:2, select, mc.cores = 2)
for (one in there) stopifnot(all.equal(one, here, tolerance = 1e-10))
"""
EMBED = f"""
import rpy2.rinterface as ri
ri.initr()
ri.evalr('cat(tryCatch(glfsbio::glfs_setup(), error = conditionMessage))')
import rpy2.robjects as ro
from rpy2.rinterface_lib.embedded import RRuntimeError
from glfs_bio import rbridge
rbridge.register()
{TARGETS}"""


def grown_by(out):
    """Seventy-five calls hand over 11 MB."""
    return float(out.split("grown by ")[1].split()[0])


def interrupt(process):
    """Wait for the line that says that it has begun, and press Ctrl-C; returns what was printed."""
    said = []
    for line in process.stdout:
        said.append(line)
        if line.startswith("ready"):
            break
    process.send_signal(signal.SIGINT)
    return "".join(said)


def test_r_first(rscript, monkeypatch):
    """Memory; workers; interrupts in Python, in R afterwards, and without a handler.

    Workers give what one process gives, and leave nothing behind.  R's own process has threads of
    OpenMP, for which its children would wait for ever.
    """
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    code = f"""{ADD_TARGETS}{GROWTH}{WORKERS}{SLOW}
        cat(tryCatch(slow(), interrupt = function(e) "in Python\\n"))
        stopifnot(nrow(suppressWarnings(few())) == 50)
        cat(tryCatch(
            {{ cat("ready\\n"); repeat {{}} }}, interrupt = function(e) "in R\\n"
        ))
        slow()
        cat("not reached\\n")
    """
    process = rscript(code, start_new_session=True)
    try:
        assert grown_by(interrupt(process)) < 5
        assert interrupt(process) == "in Python\nready\n"
        assert interrupt(process) == "in R\nready\n"
        out, err = process.communicate(timeout=3600)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)  # its children too
        raise
    assert process.returncode == 130, err
    assert "not reached" not in out
    assert "leaked" not in err
    assert "Interrupted in Python." in err


def test_python_first(python):
    """Without registering; memory, a cell of R, an error, an interrupt, life after it, an end."""
    code = f"""{EMBED}
ro.r('''{GROWTH}''')
ro.r('''
library(glfsbio)
set.seed(1)
x <- matrix(rnorm(40 * 90), 40, dimnames = list(paste0("g", 1:40), NULL))
table <- glfs_select_genes(x, 5, n_comps = 10)
''')
assert ro.r("sum(table$glfs_selected)")[0] == 5
about = ro.r("glfs_setup(quiet = TRUE)")
try:
    ro.r("glfs_select_genes(x, 5, n_comps = -1)")
except RRuntimeError as error:
    assert "n_comps = -1" in str(error)
ro.r('''{SLOW}''')
try:
    ro.r("slow()")
except (RRuntimeError, KeyboardInterrupt) as error:
    print("stopped:", repr(error))
assert ro.r("nrow(suppressWarnings(few()))")[0] == 50
print("alive")
"""
    process = python(code)
    said = interrupt(process)
    assert "glfs_bio.rbridge.register()" in said
    assert grown_by(said) < 5
    out, err = process.communicate(timeout=3600)
    assert process.returncode == 0, err
    assert "stopped:" in out
    assert "Interrupted in Python." in out
    assert "alive" in out
    assert "Exception ignored" not in err


#: Others use Python, or hold what Python reads.
OTHERS = """
set.seed(1)
x <- matrix(rnorm(40 * 60, 1, 0.3), 40, dimnames = list(paste0("g", 1:40), paste0("c", 1:60)))
for (i in 1:3) x[i, 20 * (i - 1) + 1:20] <- x[i, 20 * (i - 1) + 1:20] + 3
sce <- SingleCellExperiment::SingleCellExperiment(
    list(logcounts = Matrix::Matrix(pmax(x - 0.8, 0), sparse = TRUE)),
    colData = S4Vectors::DataFrame(
        type = factor(rep(c("a", "é", NA), 20)), n = c(NA, 2:60), ok = c(NA, TRUE)
    ),
    reducedDims = list(PCA = prcomp(t(x), rank. = 5)$x)
)
select <- function(x) suppressMessages(glfs_select_genes(x, 3, n_comps = 5))
told <- function(x) utils::capture.output(
    invisible(glfs_select_genes(x, 3, n_comps = 5)), type = "message"
)

# Somebody else has started Python; what is named otherwise does not count.
reticulate::use_python(file.path(Sys.getenv("GLFSBIO_PYTHON"), "bin", "python"))
reticulate::py_run_string("mine = 3")
Sys.setenv(GLFSBIO_PYTHON = "/no/such")
stopifnot(sum(select(x)$glfs_selected) == 3, reticulate::py_eval("mine") == 3)
stopifnot(grepl(
    "a process has one Python", tryCatch(glfs_setup("/usr/bin/env"), error = conditionMessage)
))

# A matrix in a file: dense, of 10x, and of AnnData by cells and by genes.
in_file <- function(x) any(grepl("x is read from its file", told(x)))
realised <- function(x) any(grepl("realised", told(x)))
if (requireNamespace("HDF5Array", quietly = TRUE)) {
    file <- HDF5Array::writeHDF5Array(x, "x.h5", "logcounts", with.dimnames = TRUE)
    stopifnot(in_file(file), realised(file * 1), all.equal(select(file), select(x)))
    source(commandArgs(TRUE))
    zeros <- SummarizedExperiment::assay(sce)
    file <- HDF5Array::writeTENxMatrix(zeros, "10x.h5", "matrix")
    stopifnot(in_file(file), all.equal(select(file), select(zeros)))
    files <- lapply(c("by_cells.h5ad", "by_genes.h5ad"), HDF5Array::H5ADMatrix)
    layer <- HDF5Array::H5ADMatrix("by_cells.h5ad", layer = "half")
    zeros <- methods::as(files[[1L]], "dgCMatrix")
    stopifnot(in_file(files[[1L]]), in_file(t(t(files[[1L]]))), in_file(files[[2L]]))
    for (file in files)
        stopifnot(all.equal(select(file), select(zeros)))
    stopifnot(in_file(layer), all.equal(select(layer), select(zeros / 2)))
}

# One structure for several calls, and two objects.
judge <- function(x, ...) S4Vectors::metadata(
    glfs_explain_panel(x, c("g1", "g2"), n_substitutes = 2, ...)
)$glfs_explanation$substitutes
kept <- glfs_structure(sce, n_comps = 4, key_added = "mine")
only <- glfs_structure(sce, n_comps = 4)
stopifnot(identical(judge(kept, dimred = "mine"), judge(only)))
half <- seq_len(60) %% 2 == 0
both <- suppressMessages(glfs_select_genes(
    list(a = sce[, half], b = sce[-40, !half]), 3, n_comps = 5, across = "worst",
    platform = glfs_platform(efficiency = sce[-1, ])
))
sets <- lapply(both, glfs_genes)
stopifnot(identical(names(both), c("a", "b")), identical(sets$a, sets$b), !"g1" %in% sets$a)
"""


def test_a_session_with_others(run_r, tmp_path):
    """Python that runs already, files, both bridges, and what is kept between calls."""
    counts = np.random.default_rng(0).poisson(1.0, (60, 40)).astype(np.float32)
    for name, form in {"by_cells": sparse.csr_matrix, "by_genes": sparse.csc_matrix}.items():
        cells = ad.AnnData(form(counts), layers={"half": form(counts / 2)})
        cells.write_h5ad(tmp_path / f"{name}.h5ad")
    run_r(OTHERS, str(R_BRIDGE / "debian_hdf5.R"))


def test_processes_of_python_keep_their_libraries(ri):
    assert os.environ.get("LD_LIBRARY_PATH") == LIBRARIES


def test_without_rpy2(monkeypatch):
    monkeypatch.setitem(sys.modules, "rpy2.rinterface", None)
    rbridge._rinterface.cache_clear()
    with pytest.raises(ImportError, match=r"RPY2_CFFI_MODE=ABI pip install .*<3\.6\.6"):
        rbridge._rinterface()
