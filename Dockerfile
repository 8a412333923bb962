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

# Every version and hash comes from the lock; its rpy2-rinterface is for Debian's R.
RUN python3 -m venv /opt/glfs-bio \
    && export PATH=/opt/glfs-bio/bin:$PATH UV_NO_CACHE=1 VIRTUAL_ENV=/opt/glfs-bio \
    && sed -n '/^uv==/,/[^\\]$/p' lock.txt >uv.txt \
    && pip install --no-cache-dir --require-hashes --requirement uv.txt \
    && RPY2_CFFI_MODE=ABI uv pip install --require-hashes --constraints lock.txt --requirement pyproject.toml \
        --extra all --group r --group build \
    && uv pip install --no-deps --no-build-isolation . \
    && R CMD INSTALL r_bridge/glfsbio \
    && useradd --create-home --uid 1000 glfs

ENV PATH=/opt/glfs-bio/bin:$PATH \
    GLFSBIO_PYTHON=/opt/glfs-bio \
    LC_ALL=C.UTF-8 \
    RPY2_CFFI_MODE=ABI

USER 1000
WORKDIR /home/glfs
CMD ["glfs-bio", "--help"]
