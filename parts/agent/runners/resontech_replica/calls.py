"""Calls of `predict` that are under way. One that nobody waits for any more is: it can't be interrupted."""

import contextlib
import threading
import time
from typing import Any, Iterator


class CallsUnderWay:
    def __init__(self):
        self._lock = threading.Lock()
        self._began: dict[object, float] = {}
        self._ended = 0

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        call = object()
        with self._lock:
            self._began[call] = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                del self._began[call]
                self._ended += 1

    def told(self, now: float) -> dict[str, Any]:
        """`oldestS`: how long the oldest has run, null where none is; `ended`: how many have."""
        with self._lock:
            oldest = min(self._began.values(), default=None)
            return {"oldestS": None if oldest is None else now - oldest, "ended": self._ended}
