include { checkItemAllowed } from "${meta.resources_dir}/helper.nf"

workflow auto {
  findStates(params, meta.config)
    | meta.workflow.run(auto: [publish: "state"])
}

methods = [
  all_genes,
  random_genes,
  genebasis,
  glfs_bio,
  glfs_bio_labels,
  hvg,
  spapros,
  wilcoxon
]

metrics = [
  domains,
  imputation,
  label_prediction,
  neighbours,
  platform_transfer
]

// write a value to a file of YAML
def yamlFile(name, value) {
  def file = tempFile(name)
  file.write(toYamlBlob(value))
  file
}

workflow run_wf {
  take:
  input_ch

  main:
  dataset_ch = input_ch
    | map { id, state -> [id, state + [_meta: [join_id: id]]] }
    | extract_uns_metadata.run(
      fromState: [input: "input_solution"],
      toState: { id, output, state -> state + [dataset_uns: readYaml(output.output).uns] }
    )
    // reports find the dataset of a run by this identifier
    | map { id, state ->
      [state.dataset_uns.dataset_id + "/" + state.dataset_uns.normalization_id, state]
    }

  score_ch = dataset_ch

    | runEach(
      components: methods,
      filter: { id, state, comp ->
        def given = state.dataset_uns.normalization_id
        def allowed = checkItemAllowed(
          comp.config.name,
          state.methods_include, state.methods_exclude,
          "methods_include", "methods_exclude"
        )
        allowed && given == comp.config.info.preferred_normalization
      },
      id: { id, state, comp -> id + "." + comp.config.name },
      // only methods with labels get labels
      fromState: { id, state, comp ->
        def labelled = comp.config.info.subtype == "labelled"
        [input: labelled ? state.input_labelled : state.input_dataset]
      },
      toState: { id, output, state, comp -> state + [panel: output.output] }
    )

    | runEach(
      components: metrics,
      filter: { id, state, comp ->
        checkItemAllowed(
          comp.config.name,
          state.metrics_include, state.metrics_exclude,
          "metrics_include", "metrics_exclude"
        )
      },
      id: { id, state, comp -> id + "." + comp.config.name },
      fromState: [
        input_labelled: "input_labelled",
        input_solution: "input_solution",
        input_instrument: "input_instrument",
        input_panel: "panel"
      ],
      toState: { id, output, state, comp -> state + [score: output.output] }
    )

    | extract_uns_metadata.run(
      key: "extract_scores",
      fromState: [input: "score"],
      toState: { id, output, state -> state + [score_uns: readYaml(output.output).uns] }
    )

    | joinStates { ids, states ->
      ["output", [output_scores: yamlFile("score_uns.yaml", states.collect { it.score_uns })]]
    }

  // what is known of datasets, methods, metrics and the task
  about_ch = dataset_ch
    | joinStates { ids, states ->
      def datasets = states.collect { it.dataset_uns.findAll { it.key != "normalization_id" } }
      def task = readYaml(meta.resources_dir.resolve("_viash.yaml"))
      if (workflow.commitId) {  // a local checkout has none
        task.commit = workflow.commitId
      }
      task.timestamp = workflow.start.toInstant()
        .truncatedTo(java.time.temporal.ChronoUnit.SECONDS).toString()
      ["output", [
        output_dataset_info: yamlFile("dataset_uns.yaml", datasets),
        output_method_configs: yamlFile("method_configs.yaml", methods.collect { it.config }),
        output_metric_configs: yamlFile("metric_configs.yaml", metrics.collect { it.config }),
        output_task_info: yamlFile("task_info.yaml", task),
        _meta: states[0]._meta
      ]]
    }

  output_ch = score_ch
    | mix(about_ch)
    | joinStates { ids, states -> [ids[0], states.inject([:]) { all, one -> all + one }] }

  emit:
  output_ch
}
