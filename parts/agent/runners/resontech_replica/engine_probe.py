"""Whether the engine gets anything done: the steps that it has made, and one real token while nobody asks it anything."""

import http.client
import threading
import time
from typing import Callable, Optional

from .engine import Engine

_EVERY_S = 2.0
# A token of a large model costs a second of a processor: asked for seldom, and seldomer where it takes long.
_TOKEN_EVERY_S = 10.0
_TOKEN_SHARE = 50


class EngineProbe:
    """A thread of its own asks: an engine that hangs holds up nobody else."""

    def __init__(self, engine: Engine, steps_of: Callable[[bytes], Optional[float]], ask_token: Callable[[], None], is_idle: Callable[[], bool]):
        """@param steps_of: a number out of the engine's own metrics that is another one after each of its steps; null where they do not say"""
        self._engine = engine
        self._steps_of = steps_of
        self._ask_token = ask_token
        self._is_idle = is_idle
        self._steps: Optional[float] = None
        self._token_due_at = time.monotonic() + _TOKEN_EVERY_S
        self._wanted = threading.Event()
        self.progress = 0
        """Grows with each sign of work."""
        self.tokens = 0
        """Real tokens asked for here that came."""
        threading.Thread(target=self._run, name="probe", daemon=True).start()

    def ask_soon(self) -> None:
        """A real token, at once."""
        self._token_due_at = 0.0
        self._wanted.set()

    def _run(self) -> None:
        while True:
            self._wanted.wait(_EVERY_S)
            self._wanted.clear()
            try:
                self._look()
            except (OSError, http.client.HTTPException, ValueError):
                """It ended, or is slow to answer: who watches it sees both."""

    def _look(self) -> None:
        if self._is_idle() and time.monotonic() >= self._token_due_at:
            began = time.monotonic()
            self._ask_token()
            took = time.monotonic() - began
            self._token_due_at = time.monotonic() + max(_TOKEN_EVERY_S, _TOKEN_SHARE * took)
            self.tokens += 1
            self.progress += 1
        steps = self._steps_of(self._engine.get("/metrics"))
        # An engine that nobody asks anything has nothing to do: that its loop turns is enough until the next token.
        if steps != self._steps or self._is_idle():
            self.progress += 1
        self._steps = steps
