# glfs_bio in Python and in R, on Debian's R: docker build --tag glfs-bio .
FROM debian:12-slim

# hadolint ignore=DL3008
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
        ca-certificates libpython3.11 python3-venv r-base-core r-bioc-biobase r-bioc-delayedarray \
        r-bioc-s4vectors r-bioc-singlecellexperiment r-bioc-summarizedexperiment r-cran-matrix \
        r-cran-reticulate r-cran-seuratobject r-cran-withr \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /src
COPY LICENSE README.md lock.txt pyproject.toml ./
COPY glfs_bio glfs_bio
COPY r_bridge/glfsbio r_bridge/glfsbio

# Debian 12 has R 4.2, and rpy2-rinterface needs 4.5 from 3.6.6 on.
RUN python3 -m venv /opt/glfs-bio \
    && RPY2_CFFI_MODE=ABI /opt/glfs-bio/bin/pip install --no-cache-dir ".[all,r]" "rpy2-rinterface<3.6.6" \
    && R CMD INSTALL r_bridge/glfsbio \
    && useradd --create-home --uid 1000 glfs

ENV PATH=/opt/glfs-bio/bin:$PATH \
    GLFSBIO_PYTHON=/opt/glfs-bio \
    LC_ALL=C.UTF-8 \
    RPY2_CFFI_MODE=ABI

USER 1000
WORKDIR /home/glfs
CMD ["glfs-bio", "--help"]
