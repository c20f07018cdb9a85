"""Composition of a program around an engine: the engine, the proxy before it, and who watches both."""

import contextlib
import http.client
import os
import signal
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional

from resontech_runner.events import LineLog, is_disk_full

from .attend import ReplicaEnd, attend
from .engine import Engine, EngineProgram
from .engine_calls import Dialect
from .engine_probe import EngineProbe
from .engine_proxy import EngineProxy
from .engine_spec import EngineSpec
from .load_signs import LoadSigns
from .watched_engine import WatchedEngine
from .wish import WishFile

_FAILED = 1
_STOPPED = 143
# What is under way may end.
_GRACE_S = 5.0
_LOOK_S = 0.05
_SIGN_S = 1.0


class EngineLoadError(ValueError):
    def __init__(self, end: ReplicaEnd):
        super().__init__(end.message)
        self.end = end


@dataclass(frozen=True)
class SmallCall:
    """The least that the model can be asked for, and the field of the answer that then holds something."""

    path: str
    body: dict[str, Any]
    found: str


@dataclass(frozen=True)
class EnginePlan:
    """All that is special to one engine."""

    spec: EngineSpec
    program: EngineProgram
    small_call: SmallCall
    steps_of: Callable[[bytes], Optional[float]]
    """A number out of its own metrics that is another one after each step; null where they do not say."""
    dialect_of: Callable[[Engine], Dialect] = lambda _: Dialect()
    """Of the engine once it has its model: what it says of itself may decide."""


def run_engine(root: Path, plan: Callable[[], EnginePlan]) -> int:
    """
    @param plan: what it raises ends the program
    @return: never: the program ends with its exit code
    """
    # Nobody waits for a model that loads; the engine ends with this process.
    _on_stop(lambda: os._exit(_STOPPED))
    os.umask(0o077)
    events = LineLog(root / "rt/events/events.jsonl")
    try:
        planned = plan()
        engine = Engine(planned.program)
        _wait_ready(planned.small_call, engine, events)
        proxy = EngineProxy(planned.spec, engine, planned.dialect_of(engine))
    except BaseException as error:
        _tell(events, _end_of(error))
        os._exit(_FAILED)
    stop = threading.Event()
    _on_stop(stop.set)
    threading.Thread(target=proxy.serve_forever, name="http", daemon=True).start()
    events.append("ready")
    probe = EngineProbe(engine, planned.steps_of, lambda: _require_answer(planned.small_call, engine), lambda: proxy.under_way == 0)
    end = attend(WatchedEngine(engine, proxy, probe), events, WishFile(root / "rt/job/wish.json"), stop)
    if end is not None:
        _tell(events, end)
        engine.kill()
        os._exit(_FAILED)
    proxy.shutdown()
    for _ in range(planned.spec.slots):
        proxy.places.acquire(timeout=_GRACE_S / planned.spec.slots)
    engine.kill()
    os._exit(_STOPPED)


def _on_stop(act: Callable[[], None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: act())


def _wait_ready(call: SmallCall, engine: Engine, events: LineLog) -> None:
    """Until one real token, or one real vector, came: that an engine listens shows nothing."""
    signs, look_at = LoadSigns(time.monotonic()), 0.0
    while not engine.wait_loaded(_LOOK_S):
        _require_running(engine)
        now = time.monotonic()
        if now < look_at:
            continue
        look_at = now + _SIGN_S
        if signs.is_due(now, engine.activity()):
            events.append("progress", step="loading", done=0)
    try:
        _require_answer(call, engine)
    except (OSError, http.client.HTTPException):
        # Its connection ends a moment before it does.
        _require_running(engine, 1)
        raise


def _require_answer(call: SmallCall, engine: Engine) -> None:
    """@raise EngineLoadError, OSError, http.client.HTTPException, ValueError"""
    answer = engine.ask(call.path, call.body)
    if not answer.get(call.found):
        raise EngineLoadError(ReplicaEnd("user_exception", f"the model gives no answer: {str(answer)[:300]}", ""))


def _require_running(engine: Engine, within_s: float = 0) -> None:
    end = engine.end(within_s)
    if end is not None:
        raise EngineLoadError(end)


def _end_of(error: BaseException) -> ReplicaEnd:
    if isinstance(error, EngineLoadError):
        return error.end
    reason = "disk_limit" if is_disk_full(error) else "user_exception"
    return ReplicaEnd(reason, f"{type(error).__name__}: {error}", traceback.format_exc())


def _tell(events: LineLog, end: ReplicaEnd) -> None:
    with contextlib.suppress(OSError):
        print(end.message, file=sys.stderr, flush=True)
        events.append("failed", reason=end.reason, message=end.message[:500], detail=end.detail[-4096:])
