"""Runs a command under limits of time and memory, and says what it took."""

from __future__ import annotations

import math
import os
import resource
import signal
import subprocess
import tempfile
from dataclasses import dataclass

#: Address space of a process.
GIBIBYTES = 12
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
#: What R says after every error: from where it was called, and that it ends.
AFTER_ERRORS = ("Calls: ", "Execution halted")


@dataclass(frozen=True)
class Run:
    """Processor time in seconds, peak memory in MiB, and why the command failed, if it did."""

    seconds: float
    memory: float
    error: str | None


def run(call: list, folder: str, seconds: float, variables: dict[str, str] | None = None) -> Run:
    """Run the command in a folder, on one thread where its libraries can be told so.

    Time is that of the processor, not of the clock: on a busy machine a command takes no longer.
    `variables` are set in the environment of the command.
    """

    def limited() -> None:
        allowed = math.ceil(seconds)
        # Past the first limit the process is asked to end, past the second it is ended.
        resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed + 1))
        resource.setrlimit(resource.RLIMIT_AS, (GIBIBYTES * 2**30,) * 2)

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as messages:
        process = subprocess.Popen(
            call,
            env=os.environ | ONE_THREAD | (variables or {}),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=messages,
            preexec_fn=limited,
        )
        # Unlike `wait`, this tells what this process and its own children used, and no other.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        said = messages.read()
    took = used.ru_utime + used.ru_stime
    error = None
    if process.returncode:
        error = _reason(said, process.returncode)
    if process.returncode == -signal.SIGXCPU or (error and took >= seconds):
        took, error = max(took, seconds), f"not finished after {seconds:.0f} s"
    return Run(took, used.ru_maxrss / 1024, error)


def _reason(said: str, code: int) -> str:
    """Last line of what a command said before it failed."""
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    lines = [line.strip() for line in said.splitlines()]
    lines = [line for line in lines if line and not line.startswith(AFTER_ERRORS)]
    return lines[-1] if lines else f"exit status {code}"
