"""Laplacian-regularised least squares, and the labels that it learns from."""
