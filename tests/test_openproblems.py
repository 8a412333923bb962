"""The task for OpenProblems: its files fit together, and its components run as viash runs them."""

from __future__ import annotations

import ast
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.sparse import csr_matrix, issparse
from scipy.spatial.distance import cdist

TASK = Path(__file__).parents[1] / "packaging" / "openproblems"
if not TASK.exists():
    pytest.skip("packaging/openproblems is not here", allow_module_level=True)

API = sorted(TASK.glob("src/api/*.yaml"))
CONFIGS = sorted(TASK.glob("src/*/*/config.vsh.yaml"))
COMPONENTS = {str(one.parent.relative_to(TASK / "src")): one for one in CONFIGS}
CHOOSERS = [name for name in COMPONENTS if name.split("/")[0] in ("methods", "control_methods")]
METRICS = [name for name in COMPONENTS if name.startswith("metrics/")]
WORKFLOWS = [name for name in COMPONENTS if name.startswith("workflows/")]
IN_R = "methods/genebasis"
#: Kinds of dtypes, by the names that files are described with.
KINDS = {"integer": "iuf", "double": "f", "boolean": "b"}
N_GENES = 12


def name_of(path: Path) -> str:
    return str(path.relative_to(TASK))


def located(name: str, beside: Path) -> Path:
    """A file that is named by its place in the project, or beside another."""
    return TASK / name[1:] if name.startswith("/") else beside.parent / name


@cache
def merged(path: Path) -> dict:
    """Read YAML with what it merges, as viash does: dicts by key, lists one after the other."""

    def joined(below, above):
        if isinstance(below, list):
            return below + above
        if not isinstance(below, dict):
            return above
        return below | {
            key: joined(below[key], value) if key in below else value
            for key, value in above.items()
        }

    def resolved(value):
        if isinstance(value, list):
            return [resolved(one) for one in value]
        if not isinstance(value, dict):
            return value
        own = {key: resolved(one) for key, one in value.items() if key != "__merge__"}
        target = value.get("__merge__")
        return joined(merged(located(target, path)), own) if target else own

    return resolved(yaml.safe_load(path.read_text("utf-8")))


def arguments(component: str) -> dict[str, dict]:
    config = merged(COMPONENTS[component])
    groups = [config, *config.get("argument_groups", [])]
    found = [one for group in groups for one in group.get("arguments", [])]
    names = [one["name"].removeprefix("--") for one in found]
    assert len(set(names)) == len(names)
    return dict(zip(names, found, strict=True))


def in_r(name: str, values: dict) -> str:
    """A list of R."""
    pairs = (f"{one} = {json.dumps(value)}" for one, value in values.items() if value is not None)
    return f"{name} <- list({', '.join(pairs)})"  # what is not there is NULL


def built(component: str, folder: Path, **given) -> Path:
    """Write what viash builds: a script with its parameters, and its other resources beside it."""
    config, known = merged(COMPONENTS[component]), arguments(component)
    assert {name for name, one in known.items() if one.get("required")} <= set(given) <= set(known)
    folder.mkdir()
    for resource in config["resources"]:
        shutil.copy(located(resource["path"], COMPONENTS[component]), folder)
    script = folder / config["resources"][0]["path"]
    par = {name: one.get("default") for name, one in known.items()} | given
    par = {name: str(one) if isinstance(one, Path) else one for name, one in par.items()}
    meta = {"name": config["name"], "resources_dir": str(folder), "cpus": None}
    block = [f"par = {par!r}", f"meta = {meta!r}"]
    if script.suffix == ".R":
        block = [in_r("par", par), in_r("meta", meta)]
    before, start, rest = script.read_text("utf-8").partition("## VIASH START\n")
    _, end, after = rest.partition("## VIASH END\n")
    assert start
    assert end
    script.write_text("\n".join([before, *block, after]), "utf-8")
    return script


def run(component: str, folder: Path, **given) -> None:
    """Run a component of Python."""
    script = built(component, folder, **given)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "path", list(sys.path))
        for name in ("panel_files", "nearest_cells"):
            patched.delitem(sys.modules, name, raising=False)
        runpy.run_path(str(script))


def check(path: Path, argument: dict) -> ad.AnnData:
    """A file has what its description says: what is required, and nothing that is not described."""
    adata, described = ad.read_h5ad(path), argument["info"]["format"]
    assert described["type"] == "h5ad"
    for slot in ("layers", "obs", "var", "obsm", "uns"):
        fields = {one["name"]: one for one in described.get(slot, [])}
        there = set(getattr(adata, slot))
        assert {name for name, one in fields.items() if one["required"]} <= there <= set(fields)
        for name in there:
            of_type(getattr(adata, slot)[name], fields[name])
    return adata


def of_type(value, field: dict) -> None:
    """A value is of the type that its description says, and one where it does not say several."""
    value = value.data if issparse(value) else np.asarray(value)
    if field["type"] == "string":
        assert all(isinstance(one, str) for one in value.ravel())
    else:
        assert value.dtype.kind in KINDS[field["type"]]
    if field["type"] == "integer":
        assert np.array_equal(value, np.round(value))
    assert not field.get("multiple") or value.ndim == 1


#: Layers of a tissue that these cells never saw.
LAYERS = {"CD14+ Monocyte": "myeloid", "Dendritic": "myeloid", "CD19+ B": "B", "CD34+": "B"}


def common(adata: ad.AnnData) -> ad.AnnData:
    """A common dataset, from logarithmised expression: three layers along a section."""
    layer = adata.obs["bulk_labels"].astype(str).map(LAYERS).fillna("T")
    along, within = np.random.default_rng(0).random((2, adata.n_obs))
    return ad.AnnData(
        layers={
            "counts": csr_matrix(np.rint(np.expm1(adata.X.toarray())).astype(np.int64)),
            "normalized": csr_matrix(adata.X),
        },
        obs=pd.DataFrame(
            {
                "cell_type": adata.obs["bulk_labels"].astype(str),
                "batch": adata.obs["phase"].astype(str),
                "region": layer,
            }
        ),
        var=adata.var[[]],
        obsm={"spatial": np.column_stack([20 * along, pd.factorize(layer)[0] + within])},
        uns={
            **{f"dataset_{name}": name for name in ("id", "name", "summary", "description")},
            "normalization_id": "log_cp10k",
        },
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory, _pbmc):
    """Files of one dataset, and a panel of every method whose package is here."""
    folder = tmp_path_factory.mktemp("openproblems")
    common(_pbmc[:450]).write_h5ad(folder / "common.h5ad")
    common(_pbmc[450:, :600]).write_h5ad(folder / "other.h5ad")
    files = {name: folder / f"{name}.h5ad" for name in ("dataset", "labelled", "solution")}
    run(
        "data_processors/process_dataset",
        folder / "process_dataset",
        input=folder / "common.h5ad",
        input_instrument=folder / "other.h5ad",
        **{f"output_{name}": path for name, path in files.items()},
        output_instrument=folder / "instrument.h5ad",
        n_genes=N_GENES,
        held_out="blocks",
        obs_domain="region",
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "spapros", Spapros)
        for name in set(CHOOSERS) - {IN_R}:
            run(
                name,
                folder / name.replace("/", "_"),
                input=folder / given_to(name),
                output=folder / f"panel_{Path(name).name}.h5ad",
            )
    return folder


def given_to(component: str) -> str:
    """The file that a method gets, by its description."""
    stem = Path(arguments(component)["input"]["example"]).stem
    return {"dataset": "dataset.h5ad", "labelled_dataset": "labelled.h5ad"}[stem]


class Spapros:
    """Stands in for the package: the first genes that it may choose from."""

    class se:
        class ProbesetSelector:
            def __init__(self, adata, celltype_key, n, n_jobs, verbosity):
                assert adata.obs[celltype_key].dtype == "category"
                self.genes, self.n = adata.var_names[adata.var["highly_variable"]], n

            def select_probeset(self):
                places = np.arange(len(self.genes))
                table = {"selection": places < self.n, "rank": places}
                self.probeset = pd.DataFrame(table, index=self.genes)


def scored(folder: Path, metric: str, panel: str, name: str = "", **given) -> dict[str, float]:
    """Values of a metric of a panel; the file is checked."""
    values = {
        "input_labelled": folder / "labelled.h5ad",
        "input_solution": folder / "solution.h5ad",
        "input_instrument": folder / "instrument.h5ad",
        "input_panel": folder / f"panel_{panel}.h5ad",
        "output": folder / f"score_{Path(metric).name}_{panel}{name}.h5ad",
    } | given
    run(metric, folder / f"{Path(metric).name}_{panel}{name}", **values)
    score = check(values["output"], arguments(metric)["output"])
    of_config = [one["name"] for one in merged(COMPONENTS[metric])["info"]["metrics"]]
    assert list(score.uns["metric_ids"]) == of_config
    assert score.uns["method_id"] == panel
    return dict(zip(of_config, score.uns["metric_values"], strict=True))


# the files


@pytest.mark.parametrize("path", [*API, *CONFIGS], ids=name_of)
def test_every_file_merges_and_describes_its_arguments(path):
    config = merged(path)
    groups = [config, *config.get("argument_groups", [])]
    found = [one for group in groups for one in group.get("arguments", [])]
    for argument in [config] if path.name.startswith("file_") else found:
        if argument["type"] != "file" or "default" in argument:
            assert argument["description"]
            continue
        described = dict(argument["info"]["format"])
        assert described.pop("type") == "h5ad"
        for fields in described.values():
            assert len({field["name"] for field in fields}) == len(fields)
            for field in fields:
                assert {"type", "description", "required"} <= set(field)
    for argument in found:
        if argument["type"] == "file":
            assert {"direction", "required"} <= set(argument)


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_component_is_named_by_its_folder_and_finds_its_resources(component):
    config, path = merged(COMPONENTS[component]), COMPONENTS[component]
    assert f"{config['namespace']}/{config['name']}" == component
    for resource in config["resources"]:
        if not resource["path"].startswith("/common/"):  # of the template
            assert located(resource["path"], path).exists()
    assert config["runners"][-1]["type"] == "nextflow"
    if component not in WORKFLOWS:
        labels = config["runners"][-1]["directives"]["label"]
        assert [re.sub("low|mid|high", "", one) for one in labels] == ["time", "mem", "cpu"]


@pytest.mark.parametrize("component", [*CHOOSERS, *METRICS])
def test_people_can_read_what_a_component_does(component):
    config = merged(COMPONENTS[component])
    is_metric = component in METRICS
    for one in config["info"]["metrics"] if is_metric else [config]:
        assert len(one["label"]) <= 50
        assert 15 <= len(one["summary"]) <= 180
        assert 30 <= len(one["description"]) <= 5000
        if not component.startswith("control_methods/"):
            assert re.fullmatch(r"10\.\d{4,9}/[-._;()/:A-Za-z0-9]+", one["references"]["doi"])
            assert {"documentation", "repository"} <= set(one["links"])
        if is_metric:
            assert one["min"] < one["max"]
            assert one["maximize"] is True
            # neutral: by the packages of others, which the description names
            assert "glfs_bio" not in (COMPONENTS[component].parent / "script.py").read_text("utf-8")
            assert re.search(r"`[A-Z]\w+`", one["description"])


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_workflows_run_every_component_with_arguments_that_it_has(workflow):
    config, text = (
        merged(COMPONENTS[workflow]),
        (COMPONENTS[workflow].parent / "main.nf").read_text(),
    )
    own = [one["name"] for one in config["dependencies"] if "repository" not in one]
    wanted = ["data_processors/process_dataset"]
    if workflow.endswith("run_benchmark"):
        wanted = [*CHOOSERS, *METRICS]
        listed = re.findall(r"^  (\w+),?$", text, re.MULTILINE)
        assert set(listed) >= {Path(one).name for one in wanted}
    assert sorted(own) == sorted(wanted)
    known = set(arguments(workflow)).union(*(arguments(one) for one in own))
    named = set(re.findall(r"\b(?:in|out)put_\w+", text)) - {"input_ch", "output_ch"}
    assert named <= known
    assert set(re.findall(r"state\.((?:in|out)put_\w+)", text)) <= set(arguments(workflow))


@pytest.mark.parametrize("path", sorted(TASK.glob("scripts/*/*.sh")), ids=name_of)
def test_scripts_of_the_shell_are_given_what_components_have(path):
    subprocess.run(["bash", "-n", path], check=True)
    text = path.read_text("utf-8")
    known = set().union(*map(arguments, COMPONENTS))
    assert set(re.findall(r"--((?:in|out)put_\w+)", text)) <= known | {
        "input_states",
        "output_state",
    }
    for config in re.findall(r"src/\S+/config\.vsh\.yaml", text):
        assert (TASK / config).exists()


SCHEMAS = os.environ.get("GLFS_BIO_OPENPROBLEMS")
#: Schemas of openproblems-bio/common_resources, by the files that they are for.
SCHEMA_OF = {
    "_viash.yaml": "task_config",
    "src/api/comp_*.yaml": "api_component_spec",
    "src/api/file_*.yaml": "api_file_format",
    "src/methods/*/config.vsh.yaml": "task_method",
    "src/control_methods/*/config.vsh.yaml": "task_control_method",
    "src/metrics/*/config.vsh.yaml": "task_metric",
}


@pytest.mark.skipif(not SCHEMAS, reason="GLFS_BIO_OPENPROBLEMS names no checkout")
@pytest.mark.parametrize("files", SCHEMA_OF)
def test_schemas_of_openproblems_allow_every_file(files):
    jsonschema = pytest.importorskip("jsonschema")
    registry = pytest.importorskip("referencing").Registry(retrieve=schema_of)
    schema = schema_of(f"{SCHEMA_OF[files]}.yaml").contents
    paths = sorted(TASK.glob(files))
    assert paths
    for path in paths:
        content = yaml.safe_load(path.read_text("utf-8"))
        jsonschema.Draft7Validator(schema, registry=registry).validate(content)


@cache
def schema_of(name: str):
    content = yaml.safe_load((Path(SCHEMAS) / "schemas" / name).read_text("utf-8"))
    return pytest.importorskip("referencing.jsonschema").DRAFT7.create_resource(content)


# the components


def test_the_data_processor_writes_what_is_described(folder):
    known = arguments("data_processors/process_dataset")
    files = {
        name: check(folder / f"{name}.h5ad", known[f"output_{name}"])
        for name in ("dataset", "labelled", "solution", "instrument")
    }
    dataset, labelled, solution = (files[name] for name in ("dataset", "labelled", "solution"))
    assert dataset.obs_names.equals(labelled.obs_names)
    assert not set(dataset.obs_names) & set(solution.obs_names)
    assert dataset.n_obs + solution.n_obs == 450
    for one in files.values():
        assert one.var_names.equals(dataset.var_names)
    assert set(files["instrument"].obs["cell_type"]) <= set(labelled.obs["cell_type"])
    assert dataset.uns["n_genes"] == N_GENES
    on = (dataset.layers["counts"] > 0).sum(axis=0)
    assert on.min() >= 3


def test_batches_are_held_out_whole(folder, tmp_path):
    outputs = {f"output_{name}": tmp_path / name for name in ("dataset", "labelled", "solution")}
    given = {"input": folder / "common.h5ad", "held_out": "batch"} | outputs
    run("data_processors/process_dataset", tmp_path / "build", **given)
    here, there = (ad.read_h5ad(tmp_path / one) for one in ("dataset", "solution"))
    assert not set(here.obs["batch"]) & set(there.obs["batch"])
    with pytest.raises(ValueError, match="held_out"):  # neighbours would be on both sides
        run(
            "data_processors/process_dataset",
            tmp_path / "again",
            **given | {"held_out": "random", "obs_domain": "region"},
        )


@pytest.mark.parametrize("component", [one for one in CHOOSERS if one != IN_R])
def test_a_panel_is_as_described_and_not_too_large(folder, component):
    name = Path(component).name
    panel = check(folder / f"panel_{name}.h5ad", arguments(component)["output"])
    assert panel.uns["method_id"] == name
    dataset = ad.read_h5ad(folder / "dataset.h5ad")
    assert panel.var_names.equals(dataset.var_names)
    assert panel.var["selected"].sum() == (panel.n_vars if name == "all_genes" else N_GENES)


@pytest.mark.parametrize("component", CHOOSERS)
def test_only_methods_with_labels_get_labels(component):
    config = merged(COMPONENTS[component])
    described = arguments(component)["input"]["info"]["format"]["obs"]
    labelled = config["info"].get("subtype") == "labelled"
    assert ("cell_type" in {one["name"] for one in described}) is labelled
    script = (COMPONENTS[component].parent / config["resources"][0]["path"]).read_text("utf-8")
    assert ("cell_type" in script) is labelled


STAND_IN = """
library <- function(...) invisible()
genes <- paste0("gene", 1:6)
read_h5ad <- function(path) list(
  layers = list(normalized = matrix(0, 4, 6), counts = matrix(0, 4, 6)),
  obs_names = paste0("cell", 1:4), var_names = genes,
  uns = list(dataset_id = "a", normalization_id = "log_cp10k", n_genes = 3)
)
SingleCellExperiment <- function(assays) assays$logcounts
retain_informative_genes <- function(sce) sce[-1, ]
gene_search <- function(sce, n_genes_total, nPC.selection, verbose) {
  stopifnot(is.null(nPC.selection), identical(rownames(sce), genes[-1]))
  data.frame(rank = seq_len(n_genes_total), gene = rownames(sce)[seq_len(n_genes_total)])
}
AnnData <- function(...) list(...)
write_h5ad <- function(panel, path, compression) {
  stopifnot(identical(names(panel$uns), c("dataset_id", "normalization_id", "method_id")))
  writeLines(rownames(panel$var)[panel$var$selected], path)
}
"""


def test_genebasis_runs_with_functions_that_stand_in_for_its_packages(tmp_path):
    """They are those of anndata and geneBasisR, which no test installs."""
    if not shutil.which("Rscript"):
        pytest.skip("R is not here")
    output = tmp_path / "panel.txt"
    script = built(IN_R, tmp_path / "build", input=tmp_path / "dataset.h5ad", output=output)
    script.write_text(STAND_IN + script.read_text("utf-8"), "utf-8")
    subprocess.run(["Rscript", "--vanilla", script], check=True)
    assert output.read_text("utf-8").split() == ["gene2", "gene3", "gene4"]


@pytest.mark.parametrize("component", [*CHOOSERS, *METRICS])
def test_scripts_read_no_argument_that_is_not_described(component):
    config = merged(COMPONENTS[component])
    text = (COMPONENTS[component].parent / config["resources"][0]["path"]).read_text("utf-8")
    after = text.partition("VIASH END")[2]
    read = set(re.findall(r"par(?:\[\"|\$)(\w+)", after))
    assert "output" in read <= set(arguments(component))
    if component != IN_R:
        block = re.search(r"^par = (\{.*?\n\})", text, re.MULTILINE | re.DOTALL)[1]
        assert read <= set(ast.literal_eval(block)) <= set(arguments(component))


@pytest.mark.parametrize("metric", METRICS)
def test_a_panel_lies_between_the_controls(folder, metric):
    every, ours, random = (
        scored(folder, metric, panel) for panel in ("all_genes", "glfs_bio", "random_genes")
    )
    bounds = {one["name"]: one for one in merged(COMPONENTS[metric])["info"]["metrics"]}
    for name, value in ours.items():
        assert random[name] < value
        assert bounds[name]["min"] <= value <= bounds[name]["max"]
        assert every[name] <= bounds[name]["max"]


def test_metrics_are_what_their_descriptions_say(folder):
    known, cells = (ad.read_h5ad(folder / f"{one}.h5ad") for one in ("labelled", "solution"))
    genes = ad.read_h5ad(folder / "panel_glfs_bio.h5ad").var["selected"].to_numpy()
    here, there = (one.layers["normalized"][:, genes].toarray() for one in (known, cells))
    nearest = np.argsort(cdist(there, here), axis=1, kind="stable")[:, :15]
    votes = [known.obs["cell_type"].iloc[one].value_counts().sort_index() for one in nearest]
    right = np.array([one.idxmax() for one in votes]) == cells.obs["cell_type"].to_numpy()
    found = scored(folder, "metrics/label_prediction", "glfs_bio", "_again")
    assert found["label_accuracy"] == pytest.approx(right.mean(), abs=0.01)  # ties of distances

    assert scored(folder, "metrics/neighbours", "all_genes", "_self")["knn_preservation"] == 1
    assert scored(folder, "metrics/imputation", "all_genes", "_self")["imputation_r2"] == 1


def test_metrics_are_nan_where_a_dataset_has_not_what_they_need(folder, tmp_path):
    for name in ("labelled", "solution"):
        adata = ad.read_h5ad(folder / f"{name}.h5ad")
        del adata.obs["domain"], adata.obsm["spatial"]
        adata = adata[adata.obs["cell_type"].isin(["Dendritic", "CD19+ B"])].copy()
        adata.write_h5ad(tmp_path / f"{name}.h5ad")
    given = {f"input_{one}": tmp_path / f"{one}.h5ad" for one in ("labelled", "solution")}
    given["input_instrument"] = None
    values = {}
    for metric in METRICS:
        values |= scored(folder, metric, "hvg", "_less", **given)
    missing = {name for name, value in values.items() if np.isnan(value)}
    assert missing == {"domain_recall", "rare_type_f1", "transfer_recall"}


@pytest.mark.parametrize("problem", ["too many", "none", "other genes"])
def test_metrics_refuse_files_that_are_no_panel(folder, tmp_path, problem):
    panel = ad.read_h5ad(folder / "panel_hvg.h5ad")
    if problem == "other genes":
        panel = panel[:, ::-1].copy()
    else:
        panel.var["selected"] = np.arange(panel.n_vars) < (problem == "too many") * (N_GENES + 1)
    panel.write_h5ad(tmp_path / "panel.h5ad")
    with pytest.raises(ValueError, match="genes"):
        scored(folder, METRICS[0], "hvg", problem[:3], input_panel=tmp_path / "panel.h5ad")
