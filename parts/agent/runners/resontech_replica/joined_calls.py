"""Several calls of the engine for one call of a caller's: side by side where the engine has room, and one answer of all of them."""

import contextlib
import http.client
import json
import socket
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Optional, Protocol

from .choices import JoinedChunks, Part, whole_answer
from .engine_calls import EngineCalls
from .logprobs import LogprobsForm
from .tool_calls import ForcedAnswer

_PIECE_BYTES = 64 * 1024
_END = b"\n\n"
_DATA = b"data: "
_DONE = b"[DONE]"
# Of one event: an engine that never ends one would fill the memory.
_EVENT_BYTES = 1024**2


class Refused(Exception):
    """The engine takes one of the calls not, or fails over it: that is the answer to all."""

    def __init__(self, status: int, body: bytes):
        super().__init__(f"the engine answered {status}")
        self.status = status
        self.body = body


class Caller(Protocol):
    """How the answer gets there. One thread at a time calls."""

    def begin_stream(self) -> None: ...

    def send(self, event: bytes) -> None: ...


class Calls(Protocol):
    """The engine, as one caller has it."""

    def open(self) -> contextlib.AbstractContextManager[http.client.HTTPConnection]:
        """Counted as long as it is open, and cut when the caller hangs up. @raise OSError"""

    def has_room(self) -> bool:
        """Another call would wait for none of those that are under way."""

    def note_piece(self) -> None: ...


@dataclass
class JoinedCalls:
    asked: EngineCalls
    path: str
    calls: Calls
    more_threads: int
    """Beside the caller's own."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _next: int = 0
    _failure: Optional[BaseException] = None
    _open: set[socket.socket] = field(default_factory=set)

    def whole(self) -> dict[str, Any]:
        """@raise Refused, OSError, http.client.HTTPException"""
        answers: dict[int, dict[str, Any]] = {}

        def ask(part: Part) -> None:
            with self._answer(part) as answer:
                text = answer.read()
                self.calls.note_piece()
            said = json.loads(text)
            if self.asked.finish_reason is not None:
                forced = ForcedAnswer(self.asked.finish_reason)
                said["choices"] = [forced.whole(choice) for choice in said.get("choices", [])]
            if self.asked.logprobs is not None:
                form = LogprobsForm(self.asked.logprobs)
                said["choices"] = [form.told(choice) for choice in said.get("choices", [])]
            answers[part.index] = said

        self._all(ask)
        return whole_answer(self.asked.parts, [answers[part.index] for part in self.asked.parts])

    def stream(self, caller: Caller) -> None:
        """@raise Refused before anything was sent; OSError, http.client.HTTPException"""
        joined, writing, is_begun = JoinedChunks(), threading.Lock(), False

        def send(part: Part, chunk: dict[str, Any], forced: Optional[ForcedAnswer], form: Optional[LogprobsForm]) -> None:
            nonlocal is_begun
            if form is not None:
                chunk = {**chunk, "choices": [form.told(choice) for choice in chunk.get("choices") or []]}
            if forced is not None:
                pieces = [forced.piece(choice) for choice in chunk.get("choices") or []]
                chunk = {**chunk, "choices": [piece for piece in pieces if piece is not None]}
            with writing:
                passed = joined.take(part, chunk)
                if passed is None:
                    return
                if not is_begun:
                    caller.begin_stream()
                    is_begun = True
                caller.send(_event(passed))

        def ask(part: Part) -> None:
            forced = None if self.asked.finish_reason is None else ForcedAnswer(self.asked.finish_reason)
            form = None if self.asked.logprobs is None else LogprobsForm(self.asked.logprobs)
            with self._answer(part) as answer:
                for chunk in _chunks(answer, self.calls.note_piece):
                    if "error" in chunk:
                        raise Refused(500, json.dumps(chunk).encode())
                    send(part, chunk, forced, form)

        try:
            self._all(ask)
        except Refused as refused:
            if not is_begun:
                raise
            # What was sent can't be taken back: the stream says it, as an engine's own does.
            caller.send(_DATA + refused.body + _END)
        else:
            if not is_begun:
                caller.begin_stream()
            if self.asked.wants_usage:
                caller.send(_event(joined.end()))
        caller.send(_DATA + _DONE + _END)

    def _all(self, ask: Callable[[Part], None]) -> None:
        threads = [threading.Thread(target=self._work, args=(ask, True), daemon=True) for _ in range(min(self.more_threads, len(self.asked.parts) - 1))]
        for thread in threads:
            thread.start()
        self._work(ask, False)
        for thread in threads:
            thread.join()
        if self._failure is not None:
            raise self._failure

    def _work(self, ask: Callable[[Part], None], is_more: bool) -> None:
        while True:
            # The caller's own thread goes on in any case; others only take room that nobody else needs now.
            if is_more and not self.calls.has_room():
                return
            with self._lock:
                if self._failure is not None or self._next == len(self.asked.parts):
                    return
                part = self.asked.parts[self._next]
                self._next += 1
            try:
                ask(part)
            except BaseException as error:
                self._fail(error)
                return

    def _fail(self, error: BaseException) -> None:
        """One that fails ends all: nobody waits for the others any more."""
        with self._lock:
            if self._failure is None:
                self._failure = error
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    @contextlib.contextmanager
    def _answer(self, part: Part) -> Iterator[http.client.HTTPResponse]:
        """@raise Refused, OSError, http.client.HTTPException"""
        with self.calls.open() as connection:
            with self._lock:
                self._open.add(connection.sock)
                if self._failure is not None:
                    raise OSError("another one has failed")
            # Gone with its response where the engine closes.
            opened = connection.sock
            try:
                connection.request("POST", self.path, json.dumps(part.body).encode(), {"Connection": "close", "Content-Type": "application/json"})
                answer = connection.getresponse()
                if answer.status >= 400:
                    raise Refused(answer.status, answer.read(_PIECE_BYTES))
                yield answer
            finally:
                with self._lock:
                    self._open.discard(opened)


def _chunks(answer: http.client.HTTPResponse, note_piece: Callable[[], None]) -> Iterator[dict[str, Any]]:
    """@raise http.client.IncompleteRead where the engine's last word is missing"""
    pending = b""
    while piece := answer.read1(_PIECE_BYTES):
        note_piece()
        *events, pending = (pending + piece).split(_END)
        if len(pending) > _EVENT_BYTES:
            raise http.client.HTTPException("an event of a stream has no end")
        for event in events:
            if not event.startswith(_DATA):
                continue
            text = event[len(_DATA) :].strip()
            if text == _DONE:
                return
            chunk = json.loads(text)
            # llama.cpp begins the stream of a list with an event of nothing.
            if isinstance(chunk, dict):
                yield chunk
    raise http.client.IncompleteRead(b"")


def _event(chunk: dict[str, Any]) -> bytes:
    return _DATA + json.dumps(chunk, ensure_ascii=False, separators=(",", ":")).encode() + _END
