"""A matrix of cells × genes by its rows, wherever it is."""
