# What shows that the package is hard to break; `make reliability` is the table of all of it.
LOWEST := .venv-lowest
# One that starts; a shim of pyenv may name one that it would not start here.
NEWEST_PYTHON ?= $(shell for minor in 14 13 12; do for python in python3.$$minor \
	$${PYENV_ROOT:-$$HOME/.pyenv}/versions/3.$$minor.*/bin/python; do \
	$$python -c 'import sys; print(sys.executable)' 2>/dev/null && exit; done; done)
NEWEST := .venv-newest
# Mathematics, AnnData in and out, files; what draws, or starts R, follows from these.
OF_VERSIONS := tests/core tests/rankers tests/pp tests/io tests/tl tests/estimators tests/bad_inputs \
	tests/test_reproducible.py
# Older libraries warn of what newer ones have mended: their warnings are not ours.
WARNINGS := -o filterwarnings=default

.PHONY: audit mutants reliability test-lowest test-newest

# The lowest versions that pyproject.toml allows, on its lowest Python.
$(LOWEST)/.installed: pyproject.toml | $(BIN)/uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	@$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct \
		--group test --constraint tests/lowest.txt --editable .
	@touch $@

test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -q $(WARNINGS) $(OF_VERSIONS)

# Today's versions on a newer Python, where there is one.
$(NEWEST)/.installed: pyproject.toml | $(BIN)/uv
	@$(BIN)/uv venv --quiet --clear --python $(NEWEST_PYTHON) $(NEWEST)
	@$(BIN)/uv pip install --quiet --python $(NEWEST)/bin/python --group test \
		--constraint tests/newest.txt --editable .
	@touch $@

ifeq ($(NEWEST_PYTHON),)
test-newest:
	@echo "There is no Python newer than 3.11: nothing to test."
else
test-newest: $(NEWEST)/.installed
	$(NEWEST)/bin/python -m pytest -q $(OF_VERSIONS)
endif

# Known vulnerabilities in the lock; without a network it says so and lets the rest go on.
audit: $(INSTALLED)
	@$(BIN)/python tests/audit.py requirements/dev.txt

# Takes a quarter of an hour or more; reliability reads the table that it leaves.
mutants: $(INSTALLED)
	$(BIN)/python tests/mutation/run.py

reliability: $(INSTALLED)
	$(BIN)/python tests/reliability.py
