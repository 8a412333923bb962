"""The mathematics of GLFS on arrays: nothing here knows AnnData."""
