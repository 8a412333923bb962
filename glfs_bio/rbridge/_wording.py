"""What Python says, in the words of R: its functions, its containers, its values."""

from __future__ import annotations

import re

#: Names of reduced dimensions in Bioconductor, and of the same arrays in ``.obsm``.
REDUCED = {"PCA": "X_pca", "TSNE": "X_tsne", "UMAP": "X_umap"}

#: Whole phrases first, then names of functions, of containers, of types and of values.
_TABLE = (
    # What to do
    (
        r"run sc\.pp\.normalize_total and sc\.pp\.log1p first, or name a logarithmised layer",
        "run scuttle::logNormCounts() first, or name a logarithmised matrix with assay=",
    ),
    (r"name (one|a layer) with layer=", r"name \1 with assay="),
    (r"or name a layer\b", "or name another matrix with assay="),
    (r"for a pattern pass re\.compile\(\.\.\.\)", "for a pattern pass grep(..., value = TRUE)"),
    (
        r"='([^']*)' is not in adata\.uns: run sc\.pp\.neighbors\([^)]*\)",
        r"='\1': x has no colPair '\1_connectivities'",
    ),
    (r"not what sc\.pp\.neighbors writes: rerun it", "not a graph of the cells"),
    (r"rerun sc\.pp\.neighbors", "put it into colPairs(x)"),
    (
        r"adata\.obs\[('[^']*')\] = adata\.obs.*\.cat\.remove_categories\(\[?(.*?)\]?\)",
        r"x[[\1]][x[[\1]] %in% c(\2)] <- NA",
    ),
    (r"with \.astype\('category'\)", "with factor()"),
    (r"with \.astype\(float\)", "with as.numeric()"),
    (
        r"call adata\.var_names_make_unique\(\)",
        "run rownames(x) <- make.unique(rownames(x))",
    ),
    (r"\(run glfs_bio\.pp\.structure\(adata\) with all genes\)", "(leave mask_var out)"),
    (r"Run glfs_bio\.pp\.structure again to keep it\.", ""),
    (r"load it first, for example with adata\.to_memory\(\)", "load it first"),
    (r"load it with adata\.to_memory\(\), or .*tocsr\(\)", "load it first"),
    (r"multiprocessing\.get_context\('spawn'\), in R with ", ""),
    (r", but call adata\[:.*to_memory\(\) afterwards", ""),
    (r"\b(\w+\.)*(\w+)\(\) got an unexpected keyword argument", r"glfs_\2() has no argument"),
    (r"\b(\w+\.)*(\w+)\(\) missing \d+ required .* arguments?:", r"glfs_\2() needs the argument"),
    (r"glfs_LapRLSClassifier|glfs___init__", "glfs_laprls"),
    (r"is where scanpy keeps results of its own", "is taken by results of Python"),
    # Functions
    (r"glfs_bio\.Limits\(", "glfs_limits("),
    (r"glfs_bio\.(pp|tl|io)\.(\w+)\(adata\b", r"glfs_\2(x"),
    (r"glfs_bio\.(pp|tl|io)\.(\w+)(?!\w|\()", r"glfs_\2()"),
    (r"\.\.\., key_added=", "key_added="),
    # Containers
    (r"\badata\.var_names\b", "rownames(x)"),
    (r"\badata\.obs_names\b", "colnames(x)"),
    (r"\badata\.obsm\b", "reducedDims(x)"),
    (r"\badata\.obsp\b", "colPairs(x)"),
    (r"\badata\.layers\b", "assays(x)"),
    (r"\badata\.obs\b", "colData(x)"),
    (r"\badata\.var\b", "rowData(x)"),
    (r"\badata\.uns\b", "metadata(x)"),
    (r"\badata\.X\b|(?<!\w)\.X\b", "the matrix"),
    (r"\badata\b", "x"),
    (r"\bX_(pca|tsne|umap)\b", lambda found: found[1].upper()),
    (r"\b(an|one) AnnData object( of cells × genes)?", r"\1 object of genes × samples"),
    (r"\bAnnData objects( of cells × genes)?", "objects of genes × samples"),
    # Types
    (r"\bboolean\b", "logical"),
    (r"\bbooleans\b", "logical values"),
    (r"; got dtype \w+, shape [^.]*", ""),
    (r"has dtype (u?int\w*)", "is integer"),
    (r"has dtype (float\w*)", "is numeric"),
    (r"has dtype (bool\w*)", "is logical"),
    (r"has dtype \w+", "is character"),
    (r"labels must be categories, strings", "labels must be a factor, strings"),
    (r"an empty dict", "empty"),
    (r"a dict of these with weights", "a vector of weights with these names"),
    (r"\ba dict\b", "a vector or list with names"),
    (r"(, not|is an?|it holds) (int|float)\b", r"\1 number"),
    (r"(, not|is an?|it holds) str\b", r"\1 string"),
    (r"(, not|is an?|it holds) bool\b", r"\1 logical"),
    (r"(, not|is an?|it holds) (list|dict|tuple|ndarray)\b", r"\1 list"),
    (r", not NoneType", ""),
    # Values
    (r"(?<!['\w])True(?!['\w])", "TRUE"),
    (r"(?<!['\w])False(?!['\w])", "FALSE"),
    (r"(?<!['\w])None(?!['\w])", "NULL"),
)
_COMPILED = tuple((re.compile(pattern), words) for pattern, words in _TABLE)
#: Arguments that have another name in R, by function.
_RENAMED = {
    "classify": (("groupby='labels'", "labels"), ("groupby", "labels")),
    "laprls": (("groupby='labels'", "labels"),),
}


def for_r(text: str, function: str = "") -> str:
    """A message of Python, or of `function`, for a user of R."""
    for old, new in _RENAMED.get(function, ()):
        text = text.replace(old, new)
    for pattern, words in _COMPILED:
        text = pattern.sub(words, text)
    return text
