# What shows that the package is hard to break; `make reliability` is the table of all of it.
LOWEST := .venv-lowest
# One that starts; a shim of pyenv may name one that it would not start here.
NEWEST_PYTHON ?= $(shell for minor in 14 13 12; do for python in python3.$$minor \
	$${PYENV_ROOT:-$$HOME/.pyenv}/versions/3.$$minor.*/bin/python; do \
	$$python -c 'import sys; print(sys.executable)' 2>/dev/null && exit; done; done)
NEWEST := .venv-newest

.PHONY: audit mutants newest-python reliability test-lowest test-newest

# The lowest versions that pyproject.toml allows, on its lowest Python.
$(LOWEST)/.installed: pyproject.toml | $(BIN)/uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	@$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct \
		--group test --editable '.[cli,enrich,report]' 'zarr>=2.18.7,<3'
	@touch $@

# With SHORT=--short a part of the tests; without it, and outside CI, a row in the table of results.
test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python tools/reliability.py lowest $(SHORT)

# The Python that test-newest runs with, or nothing.
newest-python:
	@echo $(NEWEST_PYTHON)

# Today's versions on a newer Python, where there is one, with all extras: all tests but those of R.
# What `upset` needs comes without pyarrow, which changes the texts of pandas.
$(NEWEST)/.installed: pyproject.toml | $(BIN)/uv
	@$(BIN)/uv venv --quiet --clear --python $(NEWEST_PYTHON) $(NEWEST)
	@$(BIN)/uv pip install --quiet --python $(NEWEST)/bin/python --group test --editable '.[all]'
	@$(BIN)/uv pip install --quiet --python $(NEWEST)/bin/python --no-deps 'marsilea>=0.8' legendkit
	@touch $@

ifeq ($(NEWEST_PYTHON),)
test-newest:
	@echo "There is no Python newer than 3.11: nothing to test."
else
test-newest: $(NEWEST)/.installed $(VENV)/.has-zsh
	$(NEWEST)/bin/python tools/reliability.py newest $(SHORT)
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
