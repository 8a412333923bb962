# What shows that the package is hard to break; `make reliability` is the table of all of it.
LOWEST := .venv-lowest
# One that starts; a shim of pyenv may name one that it would not start here.
NEWEST_PYTHON ?= $(shell for minor in 14 13 12; do for python in python3.$$minor \
	$${PYENV_ROOT:-$$HOME/.pyenv}/versions/3.$$minor.*/bin/python; do \
	$$python -c 'import sys; print(sys.executable)' 2>/dev/null && exit; done; done)
NEWEST := .venv-newest
# SHORT=--short: a part of the tests, as CI runs them, and no row in the table of results.
SHORT ?=

.PHONY: audit mutants reliability test-lowest test-newest

# The lowest versions that pyproject.toml allows, on its lowest Python.
$(LOWEST)/.installed: pyproject.toml | $(BIN)/uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	@$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct \
		--group test --editable '.[cli,enrich,report]' 'zarr>=2.18.7,<3'
	@touch $@

test-lowest: $(LOWEST)/.installed
	$(BIN)/python tools/reliability.py lowest $(SHORT)

# Today's versions on a newer Python, where there is one.
$(NEWEST)/.installed: pyproject.toml | $(BIN)/uv
	@$(BIN)/uv venv --quiet --clear --python $(NEWEST_PYTHON) $(NEWEST)
	@$(BIN)/uv pip install --quiet --python $(NEWEST)/bin/python --group test \
		--editable '.[cli,dask,enrich,report]'
	@touch $@

ifeq ($(NEWEST_PYTHON),)
test-newest:
	@echo "There is no Python newer than 3.11: nothing to test."
else
test-newest: $(NEWEST)/.installed
	$(BIN)/python tools/reliability.py newest $(SHORT)
endif

# Known vulnerabilities in the lock; without a network it says so and lets the rest go on.
audit: $(INSTALLED)
	@$(BIN)/python tools/reliability.py audit

# Takes an hour; reliability reads what it leaves in mutants/, and `mutmut show NAME` shows a survivor.
$(VENV)/.mutmut: $(INSTALLED)
	@$(LOCKED) --group mutants
	@touch $@

mutants: $(VENV)/.mutmut
	$(BIN)/mutmut run

# Reads what mutants, test-lowest and test-newest left, and runs the rest, in a quarter of an hour.
reliability: $(R_FOLDER)/.installed
	$(R_ENVIRONMENT) $(BIN)/python tools/reliability.py
