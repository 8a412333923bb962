include { findArgumentSchema } from "${meta.resources_dir}/helper.nf"

workflow auto {
  findStates(params, meta.config)
    | meta.workflow.run(auto: [publish: "state"])
}

outputs = ["output_dataset", "output_labelled", "output_solution", "output_instrument"]

workflow run_wf {
  take:
  input_ch

  main:
  output_ch = input_ch

    // a dataset that lacks what the task needs is left out
    | check_dataset_with_schema.run(
      fromState: { id, state ->
        def schema = tempFile("schema.yaml")
        writeYaml(findArgumentSchema(meta.config, "input"), schema)
        [input: state.input, schema: schema]
      },
      toState: { id, output, state ->
        state + [complete: readYaml(output.output).exit_code == 0]
      }
    )
    | filter { id, state -> state.complete }

    | process_dataset.run(
      fromState: ["input", "input_instrument", "obs_domain", "held_out", "n_genes"],
      toState: outputs
    )
    | setState(outputs)

  emit:
  output_ch
}
