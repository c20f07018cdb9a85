"""The process that a model lives in: loads it, serves it, and says every second how far its calls are. It may hang or be killed: who started it sees that."""

import contextlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from typing import Any, Callable, Protocol

from resontech_runner.events import is_disk_full

from .calls import CallsUnderWay
from .die_with_parent import die_with_parent

_FAILED = 1
_STOPPED = 143
# What is under way may end.
_GRACE_S = 5.0
_BEAT_S = 1.0


class LoadError(Exception):
    """What is to be served can't be had; `reason` is of contracts/src/job/job-reasons.ts."""

    def __init__(self, message: str, reason: str = "user_exception"):
        super().__init__(message)
        self.reason = reason


class Server(Protocol):
    """Calls wait for a place of `places`, and are counted by `calls` while the model has them."""

    calls: CallsUnderWay
    places: threading.BoundedSemaphore
    most: int

    def serve_forever(self) -> None: ...

    def shutdown(self) -> None: ...


def serve(told: int, load: Callable[[], Server]) -> int:
    """
    @param told: file descriptor for lines of JSON: `ready`, `failed`, `beat`
    @param load: back once the model is warm; what it raises is told
    """
    die_with_parent()
    os.set_inheritable(told, False)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    # What a terminal sends is meant for whoever started it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        server = load()
    except BaseException as error:
        if stop.is_set():
            os._exit(_STOPPED)
        _tell_failure(told, error)
        os._exit(_FAILED)
    threading.Thread(target=server.serve_forever, name="http", daemon=True).start()
    threading.Thread(target=_beat, args=(told, server), name="beats", daemon=True).start()
    _tell(told, "ready")
    stop.wait()
    server.shutdown()
    for _ in range(server.most):
        server.places.acquire(timeout=_GRACE_S / server.most)
    # Threads of the user's code would hold the interpreter.
    os._exit(_STOPPED)


def _beat(told: int, server: Server) -> None:
    while True:
        _tell(told, "beat", **server.calls.told(time.monotonic()))
        time.sleep(_BEAT_S)


def _tell(told: int, kind: str, **fields: Any) -> None:
    os.write(told, json.dumps({"kind": kind, **fields}).encode() + b"\n")


def _tell_failure(told: int, error: BaseException) -> None:
    text = traceback.format_exc()
    reason = error.reason if isinstance(error, LoadError) else _reason_of(error)
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)
    _tell(told, "failed", reason=reason, message=f"{type(error).__name__}: {error}"[:500], detail=text[-4096:])


def _reason_of(error: BaseException) -> str:
    if is_disk_full(error):
        return "disk_limit"
    return "out_of_memory" if isinstance(error, MemoryError) else "user_exception"

