import sys

import scanpy as sc
import spapros as sp

## VIASH START
par = {
    "input": "resources_test/task_panel_selection/pancreas/labelled_dataset.h5ad",
    "output": "panel.h5ad",
    "n_candidates": 1000,
}
meta = {"name": "spapros", "cpus": 1, "resources_dir": "src/utils"}
## VIASH END

sys.path.append(meta["resources_dir"])
from panel_files import read_cells, write_panel

cells = read_cells(par["input"])
n_genes = int(cells.uns["n_genes"])
sc.pp.highly_variable_genes(
    cells, flavor="cell_ranger", n_top_genes=min(par["n_candidates"], cells.n_vars)
)
selector = sp.se.ProbesetSelector(
    cells, celltype_key="cell_type", n=n_genes, n_jobs=meta["cpus"] or 1, verbosity=0
)
selector.select_probeset()
chosen = selector.probeset.query("selection").sort_values("rank", kind="stable").index
write_panel(par["output"], cells, chosen[:n_genes], meta["name"])
