"""Options of the structure that panels are judged by."""

from __future__ import annotations

import inspect
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

import glfs_bio

from . import _options as options
from . import _results as results
from ._progress import progress

if TYPE_CHECKING:
    from anndata import AnnData

_PANEL = "Structure of the cells, computed anew where one of these is given"


def _option(told: str, default: str | None = None) -> Any:
    return typer.Option(help=told, rich_help_panel=_PANEL, show_default=default or False)


@dataclass(frozen=True, kw_only=True)
class Structure:
    """Parameters of ``pp.structure``; None is one that is not given."""

    layer: Annotated[str | None, _option("Layer in place of X.")] = None
    mask_var: Annotated[str | None, _option("Boolean column of var: genes to look at.")] = None
    batch_key: Annotated[str | None, _option("Column of obs with the batch.")] = None
    use_rep: Annotated[str | None, _option("Key of obsm, or X.")] = None
    neighbors_key: Annotated[str | None, _option("Graph: key of uns.")] = None
    n_comps: Annotated[int | None, _option("Principal components; 0 is full rank.", "50")] = None
    n_neighbors: Annotated[int | None, _option("Neighbours, where there is no graph.", "15")] = None
    lambda1: Annotated[float | None, _option("Weight of the graph.", "100.0")] = None
    seed: Annotated[
        int | None, _option("Seed of the structure, and of all that is random.", "0")
    ] = None
    structure_key: options.StructureKey = "glfs_structure"

    @property
    def random_state(self) -> int:
        """Seed of what is random beside the structure."""
        return 0 if self.seed is None else self.seed

    def prepare(self, adata: AnnData, panel: object, *, kept: bool) -> None:
        """Compute the structure, where options ask for another or the cells are to keep it.

        A panel that is the key of a selection has the selection's parameters, where no option says
        otherwise.

        Raises
        ------
        KeyError, TypeError, ValueError
            As ``pp.structure``; what `structure_key` names is something else.
        """
        from .._anndata import structure

        given = {name: value for name, value in asdict(self).items() if value is not None}
        key = given.pop("structure_key")
        if not given and not (kept and structure.load(adata, key) is None):
            return
        if "seed" in given:
            given["random_state"] = given.pop("seed")
        if "n_comps" in given:
            given["n_comps"] = given["n_comps"] or None
        with progress():
            glfs_bio.pp.structure(adata, **(_recorded(adata, panel) | given), key_added=key)


def _recorded(adata: AnnData, panel: object) -> dict[str, Any]:
    """Parameters of ``pp.structure`` that a selection was made by; none of another panel."""
    names = inspect.signature(glfs_bio.pp.structure).parameters.keys() - {"adata", "key_added"}
    recorded = results.recorded_parameters(adata, panel)
    return {name: value for name, value in recorded.items() if name in names}
