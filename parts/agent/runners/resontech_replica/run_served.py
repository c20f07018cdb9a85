"""Composition of a program whose model is in a process of its own: that process, and who watches it. None of a user's code runs here."""

import contextlib
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Callable, Optional

from resontech_runner.events import LineLog

from .attend import ReplicaEnd, attend
from .served_process import ServedProcess
from .wish import WishFile

_FAILED = 1
_STOPPED = 143
_LOOK_S = 0.05


def run_served(root: Path, start: Callable[[], ServedProcess]) -> int:
    """
    @param start: the process; what it raises ends the program
    @return: its exit code
    """
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    os.umask(0o077)
    events = LineLog(root / "rt/events/events.jsonl")
    process = start()
    end = _wait_ready(process, stop)
    if end is None and not stop.is_set():
        events.append("ready")
        end = attend(process, events, WishFile(root / "rt/job/wish.json"), stop)
    if end is None:
        process.stop()
        return _STOPPED
    _tell(events, end)
    process.kill()
    return _FAILED


def _wait_ready(process: ServedProcess, stop: threading.Event) -> Optional[ReplicaEnd]:
    """Until its class is loaded and warm; how long that may take the coordinator says."""
    while not stop.wait(_LOOK_S):
        process.look(0.0)
        if process.is_ready:
            return None
        end = process.end()
        if end is not None:
            return end
    return None


def _tell(events: LineLog, end: ReplicaEnd) -> None:
    with contextlib.suppress(OSError):
        print(end.message, file=sys.stderr, flush=True)
        events.append("failed", reason=end.reason, message=end.message[:500], detail=end.detail[-4096:])
