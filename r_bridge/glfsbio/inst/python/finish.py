"""Take out of this new environment what a session never reads, and name the FOLDER it moves to."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

#: What compilers and type checkers read.
SOURCES = {".a", ".c", ".cpp", ".f90", ".h", ".hpp", ".pxd", ".pxi", ".pyi", ".pyx", ".tp"}
#: Tests, examples, what compiles, and languages of programs that could be shown in colour.
ASIDE = ("**/tests", "sklearn/datasets/*/", "numpy/distutils", "pygments/lexers/[!_]*")

folder = sys.argv[1]
packages = Path(sysconfig.get_path("platlib"))
for path in [found for pattern in ASIDE for found in packages.glob(pattern)]:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
for path in list(packages.rglob("*")):
    if path.suffix in SOURCES:
        path.unlink()
if sys.platform == "linux" and (strip := shutil.which("strip")):
    for library in packages.glob("numcodecs/*.so"):  # most of which is for debuggers, 30 MB
        subprocess.run([strip, "--strip-debug", library], check=False)  # noqa: S603 -- no shell
scripts = Path(sysconfig.get_path("scripts"))
for path in [Path(sys.prefix, "pyvenv.cfg"), *scripts.iterdir()]:
    if path.is_file() and not path.is_symlink():
        said = path.read_bytes()
        there = said.replace(sys.prefix.encode(), folder.encode())
        if there != said:
            path.write_bytes(there)
