#!/bin/bash
# Runs the benchmark on the test resources; scripts/project/build_all_docker_containers.sh goes before.

set -e
cd "$(git rev-parse --show-toplevel)"

folder=resources_test/task_panel_selection/pancreas

nextflow run . \
  -main-script target/nextflow/workflows/run_benchmark/main.nf \
  -profile docker \
  -resume \
  -c common/nextflow_helpers/labels_ci.config \
  --id pancreas \
  --input_dataset "$folder/dataset.h5ad" \
  --input_labelled "$folder/labelled_dataset.h5ad" \
  --input_solution "$folder/solution.h5ad" \
  --input_instrument "$folder/instrument.h5ad" \
  --output_state state.yaml \
  --publish_dir "temp/results/testrun_$(date +%Y-%m-%d_%H-%M-%S)"
