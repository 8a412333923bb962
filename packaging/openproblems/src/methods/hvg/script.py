import sys

import scanpy as sc

## VIASH START
par = {
    "input": "resources_test/task_panel_selection/pancreas/dataset.h5ad",
    "output": "panel.h5ad",
}
meta = {"name": "hvg", "resources_dir": "src/utils"}
## VIASH END

sys.path.append(meta["resources_dir"])
from panel_files import read_cells, write_panel

cells = read_cells(par["input"])
table = sc.pp.highly_variable_genes(cells, n_top_genes=int(cells.uns["n_genes"]), inplace=False)
write_panel(par["output"], cells, cells.var_names[table["highly_variable"]], meta["name"])
