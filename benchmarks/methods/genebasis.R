# Genes of geneBasis: Rscript genebasis.R SOURCES CELLS GENES SIZE ...
#
# Its functions of the selection are read from its sources: the package as a whole also needs
# packages for figures and for batches that Debian does not have.  As in its authors' README:
# informative genes, then a search with all defaults; beyond 50 genes in 50 components, as its
# manual advises.  A search goes on where a smaller one ended: panels are nested, and each is
# written as soon as it is there.

options(error = function() quit(status = 1))
suppressPackageStartupMessages({
  library(SingleCellExperiment)
  library(scran)
  library(BiocNeighbors)
  library(irlba)
  library(gdata)
  library(Matrix)
  library(rhdf5)
})

MANY <- 50

arguments <- commandArgs(trailingOnly = TRUE)
sources <- arguments[1]
cells <- arguments[2]
genes <- arguments[3]
sizes <- as.integer(arguments[-(1:3)])
for (file in c("utils", "mapping_functions", "calc_Minkowski_distances",
               "retain_informative_genes", "gene_search")) {
  source(file.path(sources, "R", paste0(file, ".R")))
}

names_of <- function(axis) {
  as.character(h5read(cells, paste(axis, h5readAttributes(cells, axis)[["_index"]], sep = "/")))
}
stored <- h5read(cells, "X")
logcounts <- sparseMatrix(
  i = as.integer(stored$indices), p = as.integer(stored$indptr), x = as.numeric(stored$data),
  dims = c(length(names_of("var")), length(names_of("obs"))), index1 = FALSE,
  dimnames = list(names_of("var"), names_of("obs"))
)
set.seed(0)
sce <- retain_informative_genes(SingleCellExperiment(list(logcounts = logcounts)))
known <- calc_Minkowski_distances(sce, genes = rownames(sce), nPC = 50)
colnames(known) <- c("gene", "dist_all")
chosen <- NULL
for (size in sort(unique(c(sizes, if (max(sizes) > MANY) MANY)))) {
  components <- if (size > MANY) MANY
  chosen <- gene_search(sce, genes_base = chosen, n_genes_total = size, stat_all = known,
                        nPC.selection = components, verbose = FALSE)$gene
  if (size %in% sizes) {
    cat(chosen, file = genes, sep = "\t", append = TRUE)
    cat("\n", file = genes, append = TRUE)
  }
}
