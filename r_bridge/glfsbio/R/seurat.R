# Seurat objects without a class definition of Seurat, whose package is
# suggested.
seurat_assay <- function(x, assay) {
    if (!requireNamespace("SeuratObject", quietly = TRUE))
        glfs_stop("Seurat objects need the R package SeuratObject.")
    if (is.null(assay))
        assay <- assay_of_results(x)
    check_place(assay, "assay", SeuratObject::Assays(x), "an assay of x")
    assay
}

# The default assay, unless selections are in one other alone.
assay_of_results <- function(x) {
    usual <- SeuratObject::DefaultAssay(x)
    kinds <- vapply(results_of(x), `[[`, "", "kind")
    columns <- paste0(names(kinds)[kinds == "selection"], "_rank",
        recycle0 = TRUE)
    has <- function(assay) any(columns %in% names(x[[assay]][[]]))
    others <- if (length(columns) > 0L && !has(usual))
        Filter(has, SeuratObject::Assays(x))
    if (length(others) != 1L)
        return(usual)
    message("Assay \"", others, "\" is used, which has the selection.")
    others
}

suppressMessages(setMethod("read_object", "Seurat", function(
        x, assay = NULL, layer = "data", counts_layer = NULL, word = "layer",
        named = NULL, files = TRUE, ...) {
    refuse_place("name the matrix of x with assay = and layer =", ...)
    assay <- seurat_assay(x, assay)
    check_string(layer, word)
    layers <- seurat_layers(x[[assay]])
    check_layer(layer, layers, assay, word)
    # Version 4 of SeuratObject calls a layer a slot.
    old <- utils::packageVersion("SeuratObject") < "5.0.0"
    called <- if (old) "slot" else "layer"
    values <- function(layer) {
        check_layer(layer, layers, assay, word)
        asked <- c(list(x[[assay]]), stats::setNames(list(layer), called))
        seurat_whole(do.call(SeuratObject::GetAssayData, asked), layer,
            x[[assay]], assay, word)
    }
    matrix <- values(layer)
    others <- setdiff(SeuratObject::Assays(x), assay)
    if (length(others) > 0L)
        say_once("Other assays are not used: ", listed(others), ".")
    reduced <- lapply(
        stats::setNames(nm = SeuratObject::Reductions(x)),
        function(name) SeuratObject::Embeddings(x[[name]])
    )
    names(reduced) <- seurat_reduced(names(reduced))
    plain_parts(
        plain_matrix(matrix,
            paste0("layer \"", layer, "\" of assay \"", assay, "\""), files),
        gene_names(matrix), x[[assay]][[]], no_names(x[[]]), reduced,
        counts_layers(counts_layer, layers, "in the assay", values),
        methods::slot(x, "misc"), named = named, cells = colnames(x),
        of = "Seurat"
    )
}))

# Version 5 may keep the samples of every file in a layer of its own.
check_layer <- function(layer, layers, assay, word = "layer") {
    parts <- layers[startsWith(layers, paste0(layer, "."))]
    if (!layer %in% layers && length(parts) > 0L)
        refuse(
            "assay", " = \"", assay, "\" has \"", layer, "\" in parts (",
            listed(parts),
            "): run x[[\"", assay, "\"]] <- JoinLayers(x[[\"", assay,
            "\"]]) first."
        )
    if (!layer %in% layers)
        refuse(
            word, " = \"", layer, "\" is not in assay \"", assay, "\": ",
            listed(layers), if (layer == "data") "; NormalizeData() makes it",
            "."
        )
}

# Scaled data may be missing, or be there for some genes.
seurat_whole <- function(matrix, layer, assay, name, word) {
    there <- intersect(rownames(assay), rownames(matrix))
    called <- paste0(" = \"", layer, "\" of assay \"", name, "\" ")
    if (length(there) == 0L)
        refuse(word, called, "is empty: choose another.")
    if (length(there) < nrow(assay))
        refuse(
            word, called, "has ", length(there), " of ", nrow(assay),
            " genes: run ",
            "ScaleData(x, features = rownames(x)), or choose another."
        )
    matrix[rownames(assay), , drop = FALSE]
}

seurat_layers <- function(assay) {
    if (utils::packageVersion("SeuratObject") < "5.0.0")
        return(c("counts", "data", "scale.data"))
    # `::` would name a function that version 4 does not have.
    getExportedValue("SeuratObject", "Layers")(assay)
}

# Names of reduced dimensions, or weights by these, as elsewhere in
# Bioconductor, or back in those of Seurat.
seurat_reduced <- function(x, case = toupper) {
    renamed <- function(names) {
        common <- tolower(names) %in% c("pca", "tsne", "umap")
        replace(names, common, case(names[common]))
    }
    if (!is.null(names(x)))
        names(x) <- renamed(names(x))
    if (is.character(x)) renamed(x) else x
}

suppressMessages(setMethod("write_object", "Seurat", function(
        x, result, assay = NULL, ...) {
    assay <- seurat_assay(x, assay)
    values <- as.data.frame(result$var)
    if (length(result$rows) < nrow(x[[assay]]))
        x <- subset(x, features = rownames(values))
    for (name in intersect(result$gone$obs, names(x[[]])))
        x[[name]] <- NULL
    # AddMetaData() fails on a table without columns: nothing has changed.
    if (ncol(values) > 0L)
        x[[assay]] <- SeuratObject::AddMetaData(x[[assay]], values)
    if (ncol(result$obs) > 0L) {
        cells <- as.data.frame(result$obs)
        rownames(cells) <- colnames(x)
        x <- SeuratObject::AddMetaData(x, cells)
    }
    # Misc<- warns when it replaces an earlier result.
    methods::slot(x, "misc") <- with_records(methods::slot(x, "misc"), result)
    x
}))
