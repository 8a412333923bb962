suppressPackageStartupMessages({
  library(anndata)
  library(geneBasisR)
  library(Matrix)
  library(SingleCellExperiment)
})

## VIASH START
par <- list(
  input = "resources_test/task_panel_selection/pancreas/dataset.h5ad",
  output = "panel.h5ad"
)
meta <- list(name = "genebasis")
## VIASH END

# Beyond so many genes geneBasis advises as many principal components.
MANY <- 50

cells <- read_h5ad(par$input)
n_genes <- as.integer(cells$uns[["n_genes"]])
logcounts <- Matrix::t(cells$layers[["normalized"]])
dimnames(logcounts) <- list(cells$var_names, cells$obs_names)

set.seed(0)
informative <- retain_informative_genes(SingleCellExperiment(list(logcounts = logcounts)))
found <- gene_search(
  informative,
  n_genes_total = min(n_genes, nrow(informative) - 1L),
  nPC.selection = if (n_genes > MANY) MANY,
  verbose = FALSE
)

panel <- AnnData(
  var = data.frame(selected = cells$var_names %in% found$gene, row.names = cells$var_names),
  uns = list(
    dataset_id = cells$uns[["dataset_id"]],
    normalization_id = cells$uns[["normalization_id"]],
    method_id = meta$name
  ),
  shape = list(0L, length(cells$var_names))
)
write_h5ad(panel, par$output, compression = "gzip")
