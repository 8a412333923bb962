"""How the structure of the cells is computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .. import checks, codec
from ..errors import InvalidValue

STANDARDIZE = ("noise", "unit", None)


def refuse_ignored(remedy: str, **arguments: object) -> None:
    """Refuse genes to ignore where the subspace or the graph is given, which may have them."""
    for name, value in arguments.items():
        if value is not None:
            text = f"`ignore` has no effect on `{name}`, which stays as it was computed"
            remedy = f"compute it without them and {remedy}, or leave `{name}` out"
            raise InvalidValue(f"{text}: {remedy}")


#: Parameters of a selection that a stored structure has itself.
OF_STORED = ("layer", "batch_key", "neighbors_key", "ignore")


@dataclass(frozen=True)
class StructureSpec:
    """How the structure of the cells is computed: arguments of :func:`~glfs_bio.pp.structure`."""

    n_comps: int | None = 50
    n_neighbors: int | None = None
    lambda1: float = 100.0
    standardize: str | None = "auto"
    layer: str | None = None
    batch_key: str | None = None
    use_rep: str | None = None
    neighbors_key: str | None = None
    #: Genes that are no structure: as they are given, or names of ``.var_names``.
    ignore: Any = None
    random_state: Any = 0
    #: Key of a structure in the object that has these parameters; None: it is computed.
    stored_key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        checks.whole_number("n_comps", self.n_comps, at_least=1, or_none=True)
        checks.whole_number("n_neighbors", self.n_neighbors, at_least=1, or_none=True)
        checks.number("lambda1", self.lambda1)
        checks.one_of("standardize", self.standardize, ("auto", *STANDARDIZE))
        if isinstance(self.ignore, Iterator):
            object.__setattr__(self, "ignore", list(self.ignore))
        if self.ignore is not None:
            refuse_ignored(
                "exclude them with `exclude`",
                use_rep=self.use_rep,
                neighbors_key=self.neighbors_key,
            )
        checks.seed(self.random_state)

    def text(self) -> str:
        """Return the parameters as one text, wherever the structure is stored."""
        return codec.text_of(vars(self) | {"stored_key": None})

    @classmethod
    def restored(cls, text: Any) -> StructureSpec:
        """Return the parameters that :meth:`text` wrote."""
        return cls(**codec.value_of(text))

    def arguments(self) -> dict[str, Any]:
        """Return them as :func:`~glfs_bio.pp.select_genes` takes them."""
        names = ("n_comps", "layer", "batch_key", "use_rep", "neighbors_key", "ignore")
        arguments = {name: getattr(self, name) for name in (*names, "random_state")}
        if self.stored_key is not None:
            arguments |= dict.fromkeys(OF_STORED) | {"use_rep": self.stored_key}
        return arguments
