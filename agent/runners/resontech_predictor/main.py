"""Composition: the spec, the predictor, its server."""

import contextlib
import os
import signal
import sys
import threading
import traceback
from pathlib import Path

from resontech_runner.events import LineLog, is_disk_full

from .load import LoadError, Predictor
from .server import ReplicaServer
from .spec import read_spec

_FAILED = 1
_STOPPED = 143
# What is under way may end.
_GRACE_S = 5.0


def main(root: Path = Path("/")) -> int:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    os.umask(0o077)
    events = LineLog(root / "rt/events/events.jsonl")
    try:
        spec = read_spec(root / "rt/job/predictor.json")
        predictor = Predictor.load(spec, root / "rt/job/scripts")
        server = ReplicaServer(spec, predictor)
    except BaseException as error:
        if stop.is_set():
            os._exit(_STOPPED)
        _tell(events, error)
        os._exit(_FAILED)
    threading.Thread(target=server.serve_forever, name="http", daemon=True).start()
    events.append("ready")
    stop.wait()
    server.shutdown()
    for _ in range(spec.max_ongoing_requests):
        server.places.acquire(timeout=_GRACE_S / spec.max_ongoing_requests)
    # Threads of the user's code would hold the interpreter.
    os._exit(_STOPPED)


def _tell(events: LineLog, error: BaseException) -> None:
    text = traceback.format_exc()
    reason = error.reason if isinstance(error, LoadError) else _reason_of(error)
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)
        events.append("failed", reason=reason, message=f"{type(error).__name__}: {error}"[:500], detail=text[-4096:])


def _reason_of(error: BaseException) -> str:
    if is_disk_full(error):
        return "disk_limit"
    return "out_of_memory" if isinstance(error, MemoryError) else "user_exception"
