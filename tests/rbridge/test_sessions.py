"""Both routes as users take them: R with a Python in it, and Python with an R in it."""

from __future__ import annotations

import signal

import pytest

from glfs_bio.rbridge import _targets

#: Targets for these tests, in the Python of a session: one that computes until it is interrupted,
#: once it has said so, and one that only counts what has arrived.
TARGETS = """
import itertools
from glfs_bio.rbridge import _targets

def forever():
    print("ready", flush=True)
    for _ in itertools.count():
        pass

_targets.TARGETS.update(forever=forever, stored=lambda parts: {"stored": parts["X"].nnz})
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
    parts <- glfsbio:::read_object(x)
    if (i %% 5 == 0)
        try(glfsbio:::call_python("stored", no = parts), silent = TRUE)
    else
        stopifnot(glfsbio:::call_python("stored", parts = parts)$stored == length(x@x))
}
some <- function(i) {
    for (j in 1:50) once(j)
    gc() # else R's heap grows, and the system does not get it back
}
for (i in 1:2) some()
before <- size()
for (i in 1:5) some()
cat("grown by", size() - before, "MB\\n")
"""
EMBED = f"""
import rpy2.robjects as ro
from rpy2.rinterface_lib.embedded import RRuntimeError
from glfs_bio import rbridge
rbridge.register()
{TARGETS}"""


def grown_by(out):
    """Two hundred and fifty calls hand over 37 MB."""
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


def test_r_first_interrupts(rscript):
    """In Python, in R afterwards, and without a handler."""
    process = rscript(f"""{ADD_TARGETS}{SLOW}
        cat(tryCatch(slow(), interrupt = function(e) "in Python\\n"))
        stopifnot(nrow(suppressWarnings(few())) == 50)
        cat(tryCatch(
            {{ cat("ready\\n"); repeat {{}} }}, interrupt = function(e) "in R\\n"
        ))
        slow()
        cat("not reached\\n")
    """)
    assert interrupt(process) == "ready\n"
    assert interrupt(process) == "in Python\nready\n"
    assert interrupt(process) == "in R\nready\n"
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "not reached" not in out
    assert "Interrupted in Python." in err


def test_r_first_memory(run_r):
    assert grown_by(run_r(ADD_TARGETS + GROWTH)) < 8


def test_python_first_memory(python):
    out, err = python(f"{EMBED}\nro.r('''{GROWTH}''')").communicate(timeout=300)
    assert grown_by(out) < 8, err


def test_python_first(python):
    """A cell of R, an error, an interrupt, life after it, and a silent end."""
    code = f"""{EMBED}
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
    interrupt(process)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "stopped:" in out
    assert "Interrupted in Python." in out
    assert "alive" in out
    assert "Exception ignored" not in err


def test_setup_in_an_embedded_r_without_register(python):
    code = """
import rpy2.rinterface as ri
ri.initr()
ri.evalr('cat(tryCatch(glfsbio::glfs_setup(), error = conditionMessage))')
"""
    out, err = python(code).communicate(timeout=300)
    assert "glfs_bio.rbridge.register()" in out, err


def test_an_error_of_r_below_python_keeps_its_message(ri, monkeypatch):
    monkeypatch.setitem(_targets.TARGETS, "callback", lambda: ri.evalr("stop('from R')"))
    code = "tryCatch(glfsbio:::call_python('callback'), error = function(e) "
    assert "from R" in ri.evalr(f"{code} conditionMessage(e))")[0]
    assert "python.RRuntimeError" in list(ri.evalr(f"{code} class(e))"))


@pytest.mark.parametrize("error", [SystemExit(3), MemoryError("full"), KeyError("key")])
def test_every_exception_becomes_a_condition(ri, monkeypatch, error):
    def fail():
        raise error

    monkeypatch.setitem(_targets.TARGETS, "fail", fail)
    code = "tryCatch(glfsbio:::call_python('fail'), error = function(e) "
    assert f"python.{type(error).__name__}" in list(ri.evalr(f"{code} class(e))"))
    assert ri.evalr(f"{code} conditionMessage(e))")[0] == str(error.args[0])
    assert "in fail" in ri.evalr(f"{code} e$traceback)")[0]
