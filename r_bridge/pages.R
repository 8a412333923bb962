# Writes the pages and NAMESPACE of the R package: Rscript r_bridge/pages.R, with roxygen2, in the
# repository, after R CMD INSTALL. What Python says of arguments and results comes from its docstrings.
lines <- system2(".venv/bin/python", c("r_bridge/functions.py", "pages"), stdout = TRUE)
from_python <- function(name) {
    starts <- grep("^## ", lines)
    start <- match(paste("##", name), lines)
    lines[(start + 1):(c(starts, length(lines) + 1)[match(start, starts) + 1] - 1)]
}
roxygen2::roxygenise("r_bridge/glfsbio", load_code = roxygen2::load_installed)
