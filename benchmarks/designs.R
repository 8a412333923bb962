# What designs.py asks of AlgDesign: Rscript designs.R FOLDER CRITERION GENES
# Rows of genes.csv are candidates, and those of prior.csv are in every design; weights.csv is W.
# Prints seconds and, one a line, what is chosen.
suppressPackageStartupMessages(library(AlgDesign))
asked <- commandArgs(TRUE)
values <- function(name) as.matrix(read.csv(file.path(asked[1], name), header = FALSE))
genes <- values("genes.csv")
prior <- diag(ncol(genes))
rows <- data.frame(rbind(prior, genes))
space <- data.frame(diag(sqrt(values("weights.csv")[, 1] * ncol(genes))))
names(space) <- names(rows)
model <- as.formula(paste("~ -1 +", paste(names(rows), collapse = " + ")))
set.seed(1)
seconds <- system.time(
    found <- optFederov(
        model, rows,
        nTrials = nrow(prior) + as.integer(asked[3]), criterion = asked[2],
        space = if (asked[2] == "I") space, augment = TRUE, rows = seq_len(nrow(prior))
    )
)[["elapsed"]]
writeLines(format(c(seconds, found$rows[found$rows > nrow(prior)] - nrow(prior)), digits = 10))
