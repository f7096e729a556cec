"""Handlers that the worker tests run in a real process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time


def make_handler(*, greeting="hello"):
    def handle(request):
        match request:
            case "sleep":
                time.sleep(600)
            case "raise":
                raise ValueError("no such thing")
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "exit":
                os._exit(7)
            case "print":
                os.write(1, b"from the worker\n")
            case "child":
                return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid
            case "main":
                return sys.modules["__main__"].__dict__.get("__file__", "")
        return greeting, os.getpid(), request

    return handle


def broken_handler():
    raise RuntimeError("cannot start")


def slow_handler():
    time.sleep(600)
