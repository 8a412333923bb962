"""Run a module as ``python -m`` does, and touch a lock meanwhile: LOCK MODULE [ARGUMENT ...]."""

import os
import runpy
import sys
from threading import Event, Thread

SECONDS = 20


def beat():
    """Say that somebody is at work; end where the lock has gone to somebody else."""
    while not ended.wait(SECONDS):
        try:
            os.utime(lock)
        except FileNotFoundError:
            os._exit(3)


lock, module, *arguments = sys.argv[1:]
sys.argv[1:] = arguments
ended = Event()
Thread(target=beat, daemon=True).start()
try:
    runpy.run_module(module, run_name="__main__", alter_sys=True)
finally:
    ended.set()
