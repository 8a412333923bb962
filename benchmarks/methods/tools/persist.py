"""Genes of PERSIST for given labels: python persist.py CELLS LABEL GENES SIZE ...

As in its authors' example on blood cells: scanpy's highly variable genes, binarised, cross-entropy,
a fifth of the cells for validation, 500 candidates, then the panel.
"""

import sys
from pathlib import Path

import anndata as ad
import numpy as np
import persist.models
import scanpy as sc
import torch
from persist import PERSIST, ExpressionDataset
from sklearn.model_selection import StratifiedKFold
from torch.utils.data import DataLoader

CANDIDATES = 500


class Loader(DataLoader):
    """Loads in this process: PERSIST starts eight processes in each of its hundreds of epochs."""

    def __init__(self, dataset, *, num_workers, worker_init_fn, **how):
        super().__init__(dataset, **how)


persist.models.DataLoader = Loader
cells, label, genes, *sizes = sys.argv[1:]
torch.manual_seed(0)
np.random.seed(0)  # noqa: NPY002  the package draws from it
adata = ad.read_h5ad(cells)
sc.pp.highly_variable_genes(adata, subset=True)
# scanpy's functions set the threads of all cores, and two wait for each other.
torch.set_num_threads(1)
codes = adata.obs[label].astype("category").cat.codes.to_numpy().astype(np.int64)
binary = (adata.X.toarray() > 0).astype(np.float32)
train, validation = next(StratifiedKFold(5, shuffle=True, random_state=0).split(binary, codes))
selector = PERSIST(
    ExpressionDataset(binary[train], codes[train]),
    ExpressionDataset(binary[validation], codes[validation]),
    loss_fn=torch.nn.CrossEntropyLoss(),
    device=torch.device("cpu"),
)
selector.eliminate(target=CANDIDATES, bar=False)
for size in sizes:
    chosen, _ = selector.select(num_genes=int(size), bar=False)
    with Path(genes).open("a", encoding="utf-8") as names:
        names.write("\t".join(adata.var_names[chosen]) + "\n")
