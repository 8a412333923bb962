# R and its packages from Debian where they are missing, rpy2, and the checks of the R package.
R_LIBRARY := $(R_FOLDER)/library
R_PACKAGES := BiocCheck Biobase BiocParallel BiocStyle bluster DelayedArray ggplot2 HDF5Array IRanges knitr \
	Matrix reticulate rmarkdown scran scuttle SeuratObject SingleCellExperiment sparseMatrixStats \
	SummarizedExperiment testthat withr
# With the last two R reads NEWS.md; without them BiocCheck takes it for malformed.
R_PACKAGES += commonmark xml2
R_DEBIAN := r-base-core r-bioc-bioccheck r-bioc-biocstyle r-bioc-hdf5array r-bioc-scran r-cran-ggplot2 \
	r-bioc-sparsematrixstats r-cran-knitr r-cran-reticulate r-cran-rmarkdown r-cran-seuratobject \
	r-cran-testthat r-cran-commonmark r-cran-xml2
# With the Python sources, which the package links to and R takes along.
R_SOURCES := $(shell find -L r_bridge/glfsbio -type f -not -name '*.pyc')
# The Python that R uses. It starts some twenty times, so its modules are compiled once.
R_ENVIRONMENT = LC_ALL=C.UTF-8 R_LIBS=$(abspath $(R_LIBRARY)) GLFSBIO_PYTHON=$(abspath $(VENV)) \
	PYTHONDONTWRITEBYTECODE=

.PHONY: r-check r-tests r-vignettes r-functions bench-r test-r-newest

# The functions of R, with the arguments and defaults of Python.
r-functions: $(INSTALLED)
	$(BIN)/python r_bridge/functions.py >r_bridge/glfsbio/R/functions.R

# Whatever way they were installed; apt only where one is missing.
$(VENV)/.has-r: r_bridge/check.mk | $(INSTALLED)
	@Rscript -e 'quit(status = !all(nzchar(sapply(commandArgs(TRUE), function(p) system.file(package = p)))))' \
		$(R_PACKAGES) 2>/dev/null || tools/apt.sh $(R_DEBIAN) || { \
		echo "Install R and, in it, $(R_PACKAGES)"; exit 1; }
	@$(BIN)/python r_bridge/libpython.py || tools/apt.sh \
		$$($(BIN)/python -c 'import sys; print("libpython%d.%d" % sys.version_info[:2])')
	@touch $@

# ABI mode needs no compiler. A wheel in the cache could be one for another R.
$(VENV)/.installed-r: $(INSTALLED) $(VENV)/.has-r
	@RPY2_CFFI_MODE=ABI $(LOCKED) --no-cache --group r
	@touch $@

# Beside the Python and not for the user.  The tests of the bridge and the checks use it; the checks
# load it in six ways, so that INSTALL need not.
$(R_FOLDER)/.installed: $(R_SOURCES) $(VENV)/.installed-r
	@rm -rf $(R_FOLDER) && mkdir -p $(R_LIBRARY) $(R_FOLDER)/check
	cd $(R_FOLDER) && $(R_ENVIRONMENT) R CMD build --no-build-vignettes $(abspath r_bridge/glfsbio)
	$(R_ENVIRONMENT) R CMD INSTALL --no-test-load --library=$(R_LIBRARY) $(R_FOLDER)/glfsbio_*.tar.gz \
		>$(R_FOLDER)/install.log 2>&1 || { cat $(R_FOLDER)/install.log; exit 1; }
	@touch $@

# Of the package as it is installed, side by side.  `R CMD build` and BiocCheck would install it
# again, so the vignettes are built by what build calls; r_bridge/submission.R runs all as Bioconductor
# does, in turn.
R_CHECK = R CMD check --no-manual --no-tests --ignore-vignettes --library=$(abspath $(R_LIBRARY)) \
	--install=check:$(abspath $(R_FOLDER)/install.log)
r-check: $(R_FOLDER)/.installed
	@echo "R CMD check, whose words go to $(R_FOLDER)/check/log"
	@cd $(R_FOLDER)/check && { $(R_ENVIRONMENT) $(R_CHECK) ../glfsbio_*.tar.gz && \
		! grep -E '^Status:.*(ERROR|WARNING)' glfsbio.Rcheck/00check.log; } >log 2>&1 || { cat log; exit 1; }
	@grep -hE '^Status:' $(R_FOLDER)/check/log

r-tests: $(R_FOLDER)/.installed
	@echo "R's tests, whose words go to $(R_FOLDER)/tests/log"
	@rm -rf $(R_FOLDER)/tests && cp -r r_bridge/glfsbio/tests $(R_FOLDER)
	@cd $(R_FOLDER)/tests && $(R_ENVIRONMENT) Rscript testthat.R >log 2>&1 || { cat log; exit 1; }
	@grep -hE '^\[ FAIL' $(R_FOLDER)/tests/log

R_VIGNETTES = Rscript -e \
	'untar(Sys.glob("../glfsbio_*.tar.gz")); tools::buildVignettes(dir = "glfsbio", tangle = FALSE)'
r-vignettes: $(R_FOLDER)/.installed
	@echo "R's vignettes and BiocCheck, whose words go to $(R_FOLDER)/bioc/log"
	@mkdir -p $(R_FOLDER)/bioc && cd $(R_FOLDER)/bioc && { $(R_ENVIRONMENT) $(R_VIGNETTES) && \
		$(R_ENVIRONMENT) Rscript $(abspath r_bridge/bioc_check.R) $(abspath $(R_LIBRARY)); \
		} >log 2>&1 || { cat log; exit 1; }
	@grep -hE 'ERRORS \|' $(R_FOLDER)/bioc/log

# All this on a machine that has nothing yet, with newer R and Python.
test-r-newest: | $(BIN)/uv
	tools/test_r_newest.sh

bench-r: $(R_FOLDER)/.installed
	$(R_ENVIRONMENT) $(BIN)/python -m benchmarks.r
	$(R_ENVIRONMENT) $(BIN)/python -m benchmarks.r_panels
