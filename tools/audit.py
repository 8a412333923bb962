"""``python tools/audit.py LOCK``: known vulnerabilities of what is locked.

Without a network, or with an index that does not know the packages, nothing can be known: that is
said, and is no failure.
"""

from __future__ import annotations

import json
import subprocess
import sys

#: Seconds that the whole may take.
PATIENCE = 120


def told_of(lock: str) -> tuple[str, int]:
    """What pip-audit found, in one line, and how many vulnerabilities."""
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes"]
    command += ["--progress-spinner", "off", "--format", "json", "--timeout", "10"]
    try:
        done = subprocess.run(
            [*command, "--requirement", lock],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        packages = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError):
        return f"the database of vulnerabilities did not answer: {lock} is not audited", 0
    unknown = sum("skip_reason" in package for package in packages)
    found = [
        f"{package['name']} {package['version']} ({', '.join(one['id'] for one in flaws)})"
        for package in packages
        if (flaws := package.get("vulns"))
    ]
    looked_up = len(packages) - unknown
    if not looked_up:
        return f"none of {len(packages)} packages could be looked up: {lock} is not audited", 0
    told = f"{looked_up} of {len(packages)} packages looked up, {len(found)} with known flaws"
    return ": ".join([told, *([", ".join(found)] if found else [])]), len(found)


if __name__ == "__main__":
    line, n_flaws = told_of(sys.argv[1])
    print(f"audit: {line}")
    sys.exit(int(n_flaws > 0))
