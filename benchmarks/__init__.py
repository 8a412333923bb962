"""Benchmarks of glfs_bio: programs that write the tables of `results`, and what they share."""
