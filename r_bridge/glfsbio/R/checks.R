# Arguments in their classes, as Python takes them, or an error.

# The options in their classes, or an error.
checked <- function(target, options) {
    checks <- list(
        panel = check_panel, panels = check_panels, preserve = check_preserve,
        limits = check_limits, model = check_model, BPPARAM = check_workers,
        catalogue = check_catalogue, nomenclature = check_nomenclature,
        genes = if (target %in% c("substitutes", "explain_gene"))
            identity else check_genes
    )
    # Not `$`, which would take `panels` for `panel`.
    for (name in intersect(names(options), names(checks)))
        options[name] <- list(checks[[name]](options[[name]]))
    names(options)[names(options) == "BPPARAM"] <- "n_jobs"
    options
}

check_workers <- function(BPPARAM) {
    if (is.null(BPPARAM))
        return(NULL)
    if (!is(BPPARAM, "BiocParallelParam"))
        refuse(
            "BPPARAM", " is a ", class(BPPARAM)[1L],
            ": it must be a parameter of ",
            "BiocParallel, such as BiocParallel::MulticoreParam(2)."
        )
    BiocParallel::bpnworkers(BPPARAM)
}

check_panel <- function(panel, name = "panel") {
    if (is.null(panel) || is.numeric(panel) || is.logical(panel))
        refuse(
            name, " must be names of genes, such as rownames(x)[1:3], or one ",
            "string, not of class ", class(panel)[1L], "."
        )
    if (is.data.frame(panel) || is(panel, "DataFrame"))
        return(plain_panel(panel, name))
    if (is_string(panel)) path.expand(panel) else panel
}

check_catalogue <- function(catalogue)
    if (!is.null(catalogue)) check_panel(catalogue, "catalogue")

# A table of glfs_read_panel().
plain_panel <- function(panel, name) {
    absent <- setdiff(c("gene", "id"), names(panel))
    if (length(absent) > 0L)
        refuse(
            name, " is a ", class(panel)[1L], " without ",
            paste(absent, collapse = " and "),
            ": give names of genes, or a table of glfs_read_panel()."
        )
    plain_table(panel)
}

# Names, a table, or a file, which is one string. Of a table that came from
# elsewhere several names in one place are joined as in the files of HGNC.
check_genes <- function(genes, name = "genes") {
    if (is.data.frame(genes) || is(genes, "DataFrame")) {
        several <- vapply(genes, is, NA, "CharacterList")
        genes[several] <- lapply(genes[several], S4Vectors::unstrsplit, "|")
        return(plain_table(genes, own_names(genes)))
    }
    if (!is.null(genes) && !is.character(genes) && !is.factor(genes))
        refuse(
            name, " must be a file, a table or names of genes, not of class ",
            class(genes)[1L], "."
        )
    if (!is_string(genes))
        return(genes)
    plain("scalar", value = plain_strings(path.expand(genes)))
}

check_nomenclature <- function(nomenclature)
    check_genes(nomenclature, "nomenclature")

# Row names that are not numbers that R gave.
own_names <- function(table) {
    numbered <- is.data.frame(table) && .row_names_info(table) < 0L
    if (!numbered) rownames(table)
}

check_panels <- function(panels) {
    if (!is.list(panels) || is.null(names(panels)))
        refuse(
            "panels", " must be a named list of panels, such as ",
            "list(catalogue = c(\"CD3D\", \"LYZ\"), glfs = \"glfs\")."
        )
    unnamed <- sum(is.na(names(panels)) | !nzchar(names(panels)))
    if (unnamed > 0L)
        refuse("panels", " has ", unnamed, " panel", if (unnamed > 1L) "s",
            " without a name: name each of them.")
    if (anyDuplicated(names(panels)))
        refuse("panels", " has two panels called \"",
            names(panels)[duplicated(names(panels))][1L],
            "\": choose another name.")
    Map(check_panel, panels, paste0("panels$", names(panels)))
}

# One string, genes (of which a list may have one), or weights by name.
check_preserve <- function(preserve) {
    labels <- names(preserve)
    if (is.null(labels))
        return(if (is_string(preserve)) path.expand(preserve) else preserve)
    single <- vapply(
        preserve, function(weight) is.numeric(weight) && length(weight) == 1L,
        NA
    )
    if (!all(single, nzchar(labels)))
        refuse(
            "preserve",
            " has names, so that it must hold one weight each, such as ",
            "c(structure = 1, cell_type = 2)."
        )
    stats::setNames(unlist(preserve), path.expand(labels))
}
