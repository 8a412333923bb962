"""Descriptions of parameters, each written once: filled into docstrings, and read out of them."""

from __future__ import annotations

import inspect
import re
import textwrap
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .errors import NO_VALUE, InvalidType

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., Any]")
#: By the placeholders that stand for them in docstrings; ``{0}`` is the text after a placeholder.
SHARED = {
    "<adata>": """\
adata : AnnData
    Cells × genes, log-normalised.""",
    "<unchanged adata>": """\
adata : AnnData
    Cells × genes, log-normalised.  ``adata.X`` is never changed.""",
    "<adata with a selection>": """\
adata : AnnData
    Cells × genes, with a selection of :func:`~glfs_bio.pp.select_genes`.""",
    "<adata with results>": """\
adata : AnnData
    Cells × genes, with what :func:`~glfs_bio.{0}` wrote.""",
    "<labels>": """\
labels : {0}
    Column of ``.obs`` with labels of the cells, such as cell types: categories, texts, whole
    numbers or booleans.  Cells without one are left out: it is missing, −1, or a text that pandas
    reads as missing, such as ``"nan"``, ``"NA"`` or ``"None"``.""",
    "<gene_sets>": """\
gene_sets : {0}
    GMT file, dict of set names to genes, or name of a gseapy (Enrichr) library, which is
    downloaded.""",
    "<readings>": """\
readings : sequence of {{"knn", "laprls"}}, default both
    Prediction of labels from the panel:

    - ``"knn"``: majority of the 15 nearest cells, leave-one-out.  Genes count by their variance, as
      in a clustering, and a rare label can be lost that a single gene distinguishes.
    - ``"laprls"``: a classifier, LapRLS with a Gaussian kernel of the standardised genes, in 5-fold
      cross-validation over the cells""",
    "<domains, spatial, library_key>": """\
domains : str, default None
    Column of ``.obs`` with labels of places in the tissue, such as layers or regions, to be
    predicted from expression averaged over neighbours in space; as `labels`.
spatial : str, default None
    Where the cells are in space, for domains and for Moran's I: a key of ``.obsm`` with
    coordinates, by which the 15 nearest cells are neighbours, or a key of ``.uns`` with a graph of
    ``sq.gr.spatial_neighbors``.  None: with `domains` ``"spatial_neighbors"``, or where there is
    none ``"spatial"``; otherwise nothing is said of space.
library_key : str, default None
    Column of ``.obs`` with the section of each cell, as in squidpy: cells of other sections are no
    neighbours.  None: the regions of a table of spatialdata, or one section, unless the graph
    says otherwise.""",
    "<layer of a panel>": """\
layer : str, default None
    Layer, or ``"raw"``, to evaluate by instead of ``.X``.  None: that of the selection, and ``.X``
    for other panels.""",
    "<panel>": """\
Gene names, one name, a file, or a key: of a selection, of a boolean column of ``.var``, or of a
result of ``sc.tl.rank_genes_groups``, of which the first 10 genes of each group are the panel.""",
    "<key>": """\
key : str, default "glfs"
    Key of the selection.""",
    "<key of the selection>": """\
key : str, default None
    Key of the selection.  None: ``"glfs"``, or where there is none the last selection.""",
    "<key of the last>": """\
key : str, default None
    The `key_added` of ``{0}``, or the key of the panel.  None: that of its last result.""",
    "<key_added>": """\
key_added : str, default {0}
    Key of ``.uns``.""",
    "<key_added of a panel>": """\
key_added : str, default None
    Key of ``.uns``.  None: that of the panel and ``_{0}``, such as ``"glfs_{0}"``, which is also
    that of a list.""",
    "<layer>": """\
layer : str, default None
    Layer to use instead of ``.X``.  ``"raw"`` is ``.raw``, for the genes of `adata`, unless a layer
    has that name.""",
    "<symbols>": """\
symbols : str, default None
    Column of ``.var`` with gene names, searched after ``.var_names``.""",
    "<preserve>": """\
preserve : str, list, dict or Preserve, default None
    Target of the panel: a value of `preserve` of :func:`~glfs_bio.pp.select_genes`, or a
    :class:`~glfs_bio.Preserve`.  None: the target of the selection, and for other panels the
    structure, which is that of the selections in `adata` where they have one.""",
    "<inplace>": """\
inplace : bool, default True
    Write to `adata`.  False: return the result and leave `adata` unchanged.  There is no `copy`:
    pass ``adata.copy()`` to keep an object.""",
    "<overwrite>": """\
overwrite : bool, default False
    Replace an existing file.""",
    "<ax>": """\
ax : matplotlib.axes.Axes, default None
    Axes to draw in.  None: a new figure.""",
    "<genes in columns>": """\
n_genes : int, default None
    Number of genes, the best first.  None: every selected gene, in columns.""",
    "<title>": """\
title : str, default None
    Title of the plot.""",
    "<palette>": """\
palette : str or sequence of colours, default None
    Colours of {0}, in this order, or the name of a colour map of matplotlib.""",
    "<cmap>": """\
cmap : str or matplotlib.colors.Colormap, default {0}
    Colour map.""",
    "<shown symbols>": """\
symbols : str, default None
    Column of ``.var`` with the names to show; genes without one go by their ``.var_names``.""",
    "<figsize, show, save>": """\
figsize : tuple of two floats, default None
    Width and height of a new figure in inches.  None: as the content needs.
show : bool, default None
    Whether to show the figure and return nothing.  None: ``scanpy.settings.autoshow``, unless `ax`
    or `save` is given.
save : str, Path or bool, default None
    File to write.  As in scanpy, a text is appended to the name of the plot, and may end with a
    format, all in ``scanpy.settings.figdir``: ``"_mine.pdf"``, ``".pdf"``, or True for the name
    alone.  A Path, or a text with a folder such as ``"./mine.pdf"``, is written as given.""",
    "<params and versions>": """\
``.uns[key_added]["params"]`` : dict
    Arguments of the call.
``.uns[key_added]["versions"]`` : dict of str
    Versions of the packages.""",
    "<returned axes>": """\
Returns
-------
None if the figure was shown, else {0}.""",
}
_PLACEHOLDER = re.compile(r"^( *)(<[a-z_, ]+>)(?: (.+))?$", re.MULTILINE)


def documented(function: Function) -> Function:
    """Fill shared descriptions into the docstring of a function, with the indentation there, and
    say of an argument that it does not take where it belongs.
    """

    def text(found: re.Match[str]) -> str:
        indent, name, detail = found.groups()
        return textwrap.indent(SHARED[name].format(detail), indent)

    function.__doc__ = _PLACEHOLDER.sub(text, function.__doc__ or "") or None
    parameters = inspect.signature(function).parameters
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return function

    @wraps(function)
    def called(*args: Any, **given: Any) -> Any:
        for name in given.keys() - parameters.keys():
            from .options import place_of

            problem = f"is no argument of {function.__name__}"
            raise InvalidType(name, NO_VALUE, problem, place_of(name, given[name], parameters))
        return function(*args, **given)

    return cast("Function", called)
