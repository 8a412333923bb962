#!/bin/bash
# Divides datasets for panels of 20, 50 and 100 genes.

set -e
cd "$(git rev-parse --show-toplevel)"

for n_genes in 20 50 100; do
  nextflow run . \
    -main-script target/nextflow/workflows/process_datasets/main.nf \
    -profile docker \
    -resume \
    -entry auto \
    -c common/nextflow_helpers/labels_ci.config \
    --input_states 'resources/datasets/**/log_cp10k/state.yaml' \
    --rename_keys 'input:output_dataset' \
    --settings "{\"n_genes\": $n_genes, \"output_dataset\": \"\$id/dataset.h5ad\", \"output_labelled\": \"\$id/labelled_dataset.h5ad\", \"output_solution\": \"\$id/solution.h5ad\", \"output_instrument\": \"\$id/instrument.h5ad\"}" \
    --output_state '$id/state.yaml' \
    --publish_dir "resources/task_panel_selection/datasets/$n_genes"
done
