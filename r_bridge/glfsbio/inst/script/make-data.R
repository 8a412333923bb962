# Makes the files of extdata: Rscript inst/script/make-data.R FOLDER, with a
# Python that has glfs_bio and scanpy (GLFSBIO_PYTHON).
#
# Source: 700 of the "Fresh 68k PBMCs (Donor A)" of 10x Genomics (Zheng et al.
# 2017, doi:10.1038/ncomms14049; licence CC BY 4.0), as the Python package
# scanpy ships them in sc.datasets.pbmc68k_reduced() (licence BSD 3-Clause).
#
# pbmc68k_reduced.rds: what glfs_example() returns, which is `.raw` of scanpy's
# object (log-normalised values) with its PCA, UMAP, graph and columns.
# pbmc.h5ad: 50 of the cells and 40 of the genes, scaled, with log-normalised
# values in `.raw`.
library(glfsbio)

folder <- commandArgs(TRUE)[1L]
glfs_setup(quiet = TRUE)
reticulate::py_run_string(sprintf("
import scanpy as sc
cells = sc.datasets.pbmc68k_reduced()
cells.raw.to_adata().write_h5ad(r'%1$s/all.h5ad')
few = cells[::14, :40].copy()
few.raw = few.raw.to_adata()[:, few.var_names].copy()
few.uns.clear(), few.varm.clear(), few.obsp.clear()
few.var = few.var[['n_counts']]
few.write_h5ad(r'%1$s/pbmc.h5ad', compression='gzip')
", folder))

x <- glfs_read_h5ad(file.path(folder, "all.h5ad"), X_name = "logcounts")
unlink(file.path(folder, "all.h5ad"))
pair <- function(name) SingleCellExperiment::colPair(x, name, asSparse = TRUE)
parts <- list(
    assays = list(logcounts = SummarizedExperiment::assay(x,
        withDimnames = FALSE)),
    reduced = lapply(as.list(SingleCellExperiment::reducedDims(x)), unname),
    pairs = lapply(stats::setNames(nm = c("distances", "connectivities")),
        pair),
    obs = as.data.frame(SummarizedExperiment::colData(x)),
    var = data.frame(row.names = rownames(x))
)
saveRDS(parts, file.path(folder, "pbmc68k_reduced.rds"), compress = "xz",
    version = 2L)
