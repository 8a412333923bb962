# One that starts: a shim of pyenv may name one that it would not start here.
PYTHON ?= $(shell for python in python3.11 python3 /usr/bin/python3; do \
	$$python -c "" 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
UV_PIP := $(BIN)/uv pip
LOCKED := $(UV_PIP) install --quiet --python $(BIN)/python --require-hashes --constraints lock.txt
INSTALLED := $(VENV)/.installed
RIVALS := $(VENV)/.rivals
SPHINX := $(VENV)/.sphinx
R_FOLDER := $(VENV)/r
# Who installs what `make dist` built; python3.14 tries a newer one.
DIST_PYTHON ?= $(BIN)/python

ifneq ($(wildcard ../shared/data),)
export GLFS_BIO_DATA ?= $(abspath ../shared/data)
endif

.DELETE_ON_ERROR:
.PHONY: demo test pytest test-lowest test-newest audit mutants lint docs docs-links dist lock format clean
.PHONY: bench bench-panels bench-paper bench-peers bench-imaging bench-speed

demo: $(INSTALLED)
	@$(BIN)/glfs-bio demo --output demo.h5ad --overwrite

# R checks and tests its package and builds its vignettes beside the tests of Python.
test: $(R_FOLDER)/.installed $(VENV)/.has-zsh
	@$(MAKE) --no-print-directory --jobs=4 r-check r-tests r-vignettes pytest

# Each process makes what tests share anew, so there are as many as cores, with a thread each; twice
# as many where others have the machine, for a share of it.
PROCESSES = $(shell $(PYTHON) -c 'import os; cores = os.cpu_count(); \
	print(cores * (1 + (os.getloadavg()[0] > 2 * cores)))')
PYTEST = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(1)/bin/pytest --numprocesses $(PROCESSES) --dist worksteal
pytest: $(R_FOLDER)/.installed $(VENV)/.has-zsh
	$(R_ENVIRONMENT) $(call PYTEST,$(VENV))

# Completion is tested in the shells that people have.
$(VENV)/.has-zsh: | $(BIN)/uv
	@command -v zsh >/dev/null || tools/apt.sh zsh || echo "No zsh: its completion is not tested"
	@touch $@

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The pages are in docs/_build/html/index.html; any warning is an error.
docs: $(SPHINX)
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

# Links to other sites; those within the pages are looked at by `make docs`.
docs-links: $(SPHINX)
	LINK_HOSTS="$(LINK_HOSTS)" $(BIN)/sphinx-build -q -b linkcheck \
		-D nb_execution_mode=off docs docs/_build/links

# Wheel and sdist, installed without the lock, as `pip install` does it: alone, and with all extras.
dist: $(INSTALLED)
	@rm -rf dist && mkdir -p dist
	$(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python --out-dir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/uv venv --quiet --clear --python $(DIST_PYTHON) dist/try
	$(BIN)/uv pip install --quiet --python dist/try/bin/python dist/*.tar.gz
	dist/try/bin/python -P tools/installed.py core
	$(BIN)/uv pip install --quiet --python dist/try/bin/python "$$(echo dist/*.whl)[all]"
	dist/try/bin/python -P tools/installed.py
	@rm -rf dist/try

bench: bench-panels bench-paper
	$(BIN)/python -m benchmarks.speed.calls
	$(MAKE) bench-r

# Keeps what it computed in benchmarks/.cache; BENCH_PANELS="--only ours" passes options.
bench-panels: $(RIVALS)
	$(BIN)/python -m benchmarks.panels $(BENCH_PANELS)
	$(BIN)/python -m benchmarks.constraints
	$(BIN)/python -m benchmarks.stability halves
	$(BIN)/python -m benchmarks.criterion
	$(BIN)/python -m benchmarks.labels
	$(BIN)/python -m benchmarks.bulk

# Panels for imaging instruments, with their data in imaging/ and pairs/ of GLFS_BIO_DATA.
bench-imaging: $(RIVALS)
	$(BIN)/python -m benchmarks.imaging $(BENCH_IMAGING)
	$(BIN)/python -m benchmarks.pairs

# GLFS beside the tools made for panels; takes hours, and goes on where it was stopped.
# BENCH_PEERS="--datasets pbmc3k_2638" passes options.
bench-peers: $(RIVALS)
	$(BIN)/python -m benchmarks.peers $(BENCH_PEERS)
	$(BIN)/python -m benchmarks.stability perturbed

# Time and memory up to a million cells; takes hours and 8 GB of disk.  What is measured is kept for
# each state of the code in benchmarks/.cache/speed; BENCH_SPEED="--sizes 3000 10000" passes options.
bench-speed: $(RIVALS)
	$(BIN)/python -m benchmarks.speed.calls
	$(BIN)/python -m benchmarks.speed $(BENCH_SPEED)

# The tables and figures of the paper; takes hours.
bench-paper: $(INSTALLED)
	$(BIN)/python -m benchmarks.paper.simulations
	$(BIN)/python -m benchmarks.paper.images
	$(BIN)/python -m benchmarks.paper.glioblastoma
	$(BIN)/python -m benchmarks.paper.leukaemia
	$(BIN)/python -m benchmarks.paper.complexity
	$(BIN)/python -m benchmarks.paper.original

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Keeps the versions that are locked already; `rm lock.txt` first to take new ones.  The R package
# installs its part, with the same hashes.
COMPILE := $(UV_PIP) compile --quiet --universal --python-version 3.11 --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'
lock: | $(BIN)/uv
	RPY2_CFFI_MODE=ABI $(COMPILE) --generate-hashes --extra all --extra bench --group dev --group docs \
		--group mutants --group r --output-file lock.txt pyproject.toml
	$(COMPILE) --generate-hashes --constraint lock.txt --extra xlsx --group build \
		--output-file r_bridge/glfsbio/inst/python/requirements.txt pyproject.toml

clean:
	rm -rf $(VENV) .venv-lowest .venv-newest demo.h5ad dist mutants docs/_build docs/reference/generated .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find glfs_bio tests tools -name __pycache__ -exec rm -rf {} +

# Every version and hash comes from the lock; the package itself is editable.
$(INSTALLED): pyproject.toml lock.txt | $(BIN)/uv
	@echo "Installing into $(VENV)"
	@$(LOCKED) --exact --requirement pyproject.toml --extra all --group dev
	@$(UV_PIP) install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

# The packages that the panels are compared with; no other target needs them.
$(RIVALS): $(INSTALLED)
	@echo "Installing the rivals into $(VENV)"
	@$(LOCKED) --requirement pyproject.toml --extra bench
	@touch $@

# What the documentation is made with; no other target needs it.
$(SPHINX): $(INSTALLED)
	@echo "Installing Sphinx into $(VENV)"
	@$(LOCKED) --group docs
	@touch $@

# Debian keeps ensurepip, which venv needs, in a package of its own.
$(BIN)/uv:
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || tools/apt.sh \
		$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
	@$(PYTHON) -m venv --clear $(VENV)
	@sed -n '/^uv==/,/[^\\]$$/p' lock.txt | \
		$(BIN)/pip install --quiet --disable-pip-version-check --requirement /dev/stdin

include r_bridge/check.mk

# The lowest versions that pyproject.toml allows, and today's; without R, whose bridge the lock is for.
LOWEST := .venv-lowest
NEWEST := .venv-newest
NEWEST_PYTHON ?= $(shell for minor in 14 13 12 11; do for python in python3.$$minor \
	$${PYENV_ROOT:-$$HOME/.pyenv}/versions/3.$$minor.*/bin/python; do \
	$$python -c 'import sys; print(sys.executable)' 2>/dev/null && exit; done; done)
# Mathematics, AnnData and files, from which what draws follows.  Of dask, an extra, the versions are
# those of today.
LOWEST_TESTS := $(addprefix tests/,_anndata cells criterion data estimators glfs2014 io measures pp rivals solvers tl) \
	$(addprefix --ignore=tests/,data/test_matrix.py pp/test_lazy.py)

# Older libraries warn of what newer ones mended.
test-lowest: | $(BIN)/uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct \
		--group test --editable '.[cli,enrich,report]' 'zarr>=2.18.7,<3'
	$(call PYTEST,$(LOWEST)) -o filterwarnings=default $(LOWEST_TESTS)

# With all extras.
test-newest: $(VENV)/.has-zsh | $(BIN)/uv
	$(BIN)/uv venv --quiet --clear --python $(NEWEST_PYTHON) $(NEWEST)
	$(BIN)/uv pip install --quiet --python $(NEWEST)/bin/python --group test --editable '.[all]'
	$(call PYTEST,$(NEWEST)) --ignore=tests/rbridge

# Known vulnerabilities in the lock.
audit: $(INSTALLED)
	$(BIN)/pip-audit --disable-pip --require-hashes --requirement lock.txt

# SAMPLE=100 draws as many mutants, always the same; all of them take hours.
mutants: $(INSTALLED)
	@$(LOCKED) --group mutants
	$(BIN)/python tools/mutants.py $(SAMPLE)
