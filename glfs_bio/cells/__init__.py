"""From cells to their graph, their subspace and the genes seen through it."""
