#!/bin/bash
# Runs the benchmark on all datasets; scripts/project/build_all_docker_containers.sh goes before.

set -e
cd "$(git rev-parse --show-toplevel)"

nextflow run . \
  -main-script target/nextflow/workflows/run_benchmark/main.nf \
  -profile docker \
  -resume \
  -entry auto \
  -c common/nextflow_helpers/labels_ci.config \
  --input_states 'resources/task_panel_selection/datasets/**/state.yaml' \
  --rename_keys 'input_dataset:output_dataset;input_labelled:output_labelled;input_solution:output_solution;input_instrument:output_instrument' \
  --output_state state.yaml \
  --publish_dir "resources/results/run_$(date +%Y-%m-%d_%H-%M-%S)"
