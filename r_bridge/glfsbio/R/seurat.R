# Seurat objects without a class definition of Seurat: the package is only suggested.
seurat_assay <- function(x, assay) {
    if (!requireNamespace("SeuratObject", quietly = TRUE))
        glfs_stop("Seurat objects need the R package SeuratObject.")
    if (is.null(assay))
        assay <- SeuratObject::DefaultAssay(x)
    check_string(assay, "assay")
    if (!assay %in% SeuratObject::Assays(x))
        refuse(
            "assay", " = \"", assay, "\" is not an assay of x: ",
            listed(SeuratObject::Assays(x)), "."
        )
    assay
}

read_seurat <- function(x, assay = NULL, slot = "data", counts_layer = NULL, ...) {
    assay <- seurat_assay(x, assay)
    check_string(slot, "slot")
    slots <- seurat_slots(x[[assay]])
    check_slot(slot, slots, assay)
    # Version 5 of SeuratObject calls a slot a layer.
    name <- if (utils::packageVersion("SeuratObject") < "5.0.0") "slot" else "layer"
    values <- function(slot) {
        check_slot(slot, slots, assay)
        seurat_whole(do.call(
            SeuratObject::GetAssayData, c(list(x[[assay]]), stats::setNames(list(slot), name))
        ), slot, x[[assay]], assay)
    }
    matrix <- values(slot)
    others <- setdiff(SeuratObject::Assays(x), assay)
    if (length(others) > 0L)
        message("Other assays are not used: ", listed(others), ".")
    reduced <- lapply(
        stats::setNames(nm = SeuratObject::Reductions(x)),
        function(name) SeuratObject::Embeddings(x[[name]])
    )
    names(reduced) <- seurat_reduced(names(reduced))
    plain_parts(
        plain_matrix(matrix, paste0("slot \"", slot, "\" of assay \"", assay, "\"")),
        gene_names(matrix), x[[assay]][[]], no_names(x[[]]), reduced,
        counts_layers(counts_layer, slots, "in the assay", values),
        methods::slot(x, "misc")
    )
}

# The matrix to use, by either of its names.
seurat_slot <- function(options) {
    if (all(c("slot", "layer") %in% names(options)))
        glfs_stop("slot and layer are two names of one argument: give one of them.")
    c(options[["slot"]], options[["layer"]])
}

# Version 5 may keep the samples of every file in a layer of its own.
check_slot <- function(slot, slots, assay) {
    parts <- slots[startsWith(slots, paste0(slot, "."))]
    if (!slot %in% slots && length(parts) > 0L)
        refuse(
            "assay", " \"", assay, "\" has \"", slot, "\" in parts (", listed(parts),
            "): run x[[\"", assay, "\"]] <- JoinLayers(x[[\"", assay, "\"]]) first."
        )
    if (!slot %in% slots)
        refuse(
            "slot", " = \"", slot, "\" is not in assay \"", assay, "\": ", listed(slots),
            if (slot == "data") "; NormalizeData() makes it", "."
        )
}

# Scaled data may be missing, or be there for some genes.
seurat_whole <- function(matrix, slot, assay, name) {
    there <- intersect(rownames(assay), rownames(matrix))
    if (length(there) == 0L)
        refuse("slot", " \"", slot, "\" of assay \"", name, "\" is empty: choose another.")
    if (length(there) < nrow(assay))
        refuse(
            "slot", " \"", slot, "\" of assay \"", name, "\" has ", length(there), " of ",
            nrow(assay), " genes: run ScaleData(x, features = rownames(x)), or choose another."
        )
    matrix[rownames(assay), , drop = FALSE]
}

seurat_slots <- function(assay) {
    if (utils::packageVersion("SeuratObject") < "5.0.0")
        return(c("counts", "data", "scale.data"))
    # `::` would name a function that version 4 does not have.
    getExportedValue("SeuratObject", "Layers")(assay)
}

seurat_reduced <- function(names) {
    common <- names %in% c("pca", "tsne", "umap")
    names[common] <- toupper(names[common])
    names
}

write_seurat <- function(x, result, assay = NULL, ...) {
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
    misc <- methods::slot(x, "misc")
    misc[names(result$records)] <- result$records
    methods::slot(x, "misc") <- misc
    x
}
