import sys

import scanpy as sc

## VIASH START
par = {
    "input": "resources_test/task_panel_selection/pancreas/labelled_dataset.h5ad",
    "output": "panel.h5ad",
}
meta = {"name": "wilcoxon", "resources_dir": "src/utils"}
## VIASH END

sys.path.append(meta["resources_dir"])
from panel_files import read_cells, write_panel

cells = read_cells(par["input"])
n_genes = int(cells.uns["n_genes"])
n_cells = cells.obs["cell_type"].value_counts()
types = list(n_cells.index[n_cells > 1])
sc.tl.rank_genes_groups(cells, "cell_type", groups=types, method="wilcoxon", n_genes=n_genes)
names = cells.uns["rank_genes_groups"]["names"]
in_turn = dict.fromkeys(names[kind][place] for place in range(len(names)) for kind in types)
write_panel(par["output"], cells, list(in_turn)[:n_genes], meta["name"])
