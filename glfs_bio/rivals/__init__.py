"""Methods that GLFS is compared with, one file each."""
