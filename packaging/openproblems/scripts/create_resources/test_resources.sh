#!/bin/bash
# Writes an example of every file of src/api: one dataset, a panel of it, and a score.

set -e
cd "$(git rev-parse --show-toplevel)"

raw=resources_test/common/cxg_mouse_pancreas_atlas/dataset.h5ad
folder=resources_test/task_panel_selection/pancreas
mkdir -p "$folder"

# No second platform is among the common test resources: the same cells stand for one.
viash run src/data_processors/process_dataset/config.vsh.yaml -- \
  --input "$raw" \
  --input_instrument "$raw" \
  --n_genes 20 \
  --output_dataset "$folder/dataset.h5ad" \
  --output_labelled "$folder/labelled_dataset.h5ad" \
  --output_solution "$folder/solution.h5ad" \
  --output_instrument "$folder/instrument.h5ad"

viash run src/methods/hvg/config.vsh.yaml -- \
  --input "$folder/dataset.h5ad" \
  --output "$folder/panel.h5ad"

viash run src/metrics/label_prediction/config.vsh.yaml -- \
  --input_labelled "$folder/labelled_dataset.h5ad" \
  --input_solution "$folder/solution.h5ad" \
  --input_panel "$folder/panel.h5ad" \
  --output "$folder/score.h5ad"

cat > "$folder/state.yaml" <<STATE
id: pancreas
output_dataset: !file dataset.h5ad
output_labelled: !file labelled_dataset.h5ad
output_solution: !file solution.h5ad
output_instrument: !file instrument.h5ad
STATE

# for those who may write there; without --dryrun it uploads
aws s3 sync --profile op \
  "$folder" s3://openproblems-data/resources_test/task_panel_selection/pancreas \
  --delete --dryrun
