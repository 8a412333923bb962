"""One place that reads AnnData objects, and one that writes results into them."""
