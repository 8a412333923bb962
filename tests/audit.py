"""``python tests/audit.py LOCK``: known vulnerabilities of what is locked.

Without a network nothing can be known: that is said, and is no failure.
"""

from __future__ import annotations

import socket
import subprocess
import sys

OFFLINE = ("ConnectionError", "Max retries", "NameResolution", "timed out", "ServiceError", "403")


def main(lock: str) -> int:
    """Run pip-audit on the lock."""
    socket.setdefaulttimeout(20)
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes"]
    command += ["--progress-spinner", "off", "--requirement", lock]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except subprocess.TimeoutExpired:
        print("audit: no answer, not audited")
        return 0
    if done.returncode and any(word in done.stderr for word in OFFLINE):
        print("audit: the database of vulnerabilities cannot be reached, not audited")
        return 0
    print(done.stdout + done.stderr)
    unknown = done.stdout.count("could not be audited")
    if unknown:
        print(f"audit: {unknown} packages could not be looked up and were not audited")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
