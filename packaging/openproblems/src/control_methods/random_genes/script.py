import sys

import numpy as np

## VIASH START
par = {
    "input": "resources_test/task_panel_selection/pancreas/dataset.h5ad",
    "output": "panel.h5ad",
    "seed": 0,
}
meta = {"name": "random_genes", "resources_dir": "src/utils"}
## VIASH END

sys.path.append(meta["resources_dir"])
from panel_files import read_cells, write_panel

cells = read_cells(par["input"])
rng = np.random.default_rng(par["seed"])
genes = rng.choice(cells.var_names, min(int(cells.uns["n_genes"]), cells.n_vars), replace=False)
write_panel(par["output"], cells, genes, meta["name"])
