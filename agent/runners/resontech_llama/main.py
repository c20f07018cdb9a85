"""Composition: the spec, the engine, the proxy before it."""

import contextlib
import http.client
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import Callable, Optional

from resontech_replica.attend import ReplicaEnd, attend
from resontech_replica.wish import WishFile
from resontech_runner.events import LineLog, is_disk_full
from resontech_runner.memory_limit import memory_limit_bytes

from .engine import Engine
from .probe import Probe
from .proxy import EngineProxy
from .spec import LlamaSpec, read_spec
from .watched_engine import WatchedEngine

_FAILED = 1
_STOPPED = 143
# What is under way may end.
_GRACE_S = 5.0
_LOOK_S = 0.05


class LoadError(ValueError):
    def __init__(self, end: ReplicaEnd):
        super().__init__(end.message)
        self.end = end


def main(root: Path = Path("/")) -> int:
    # Nobody waits for a model that loads; the engine ends with this process.
    _on_stop(lambda: os._exit(_STOPPED))
    os.umask(0o077)
    events = LineLog(root / "rt/events/events.jsonl")
    try:
        spec = read_spec(root / "rt/job/llama.json")
        require_room(spec.model_path, memory_limit_bytes())
        engine = Engine(spec)
        _wait_ready(spec, engine)
        proxy = EngineProxy(spec, engine)
    except BaseException as error:
        _tell(events, _end_of(error))
        os._exit(_FAILED)
    stop = threading.Event()
    _on_stop(stop.set)
    threading.Thread(target=proxy.serve_forever, name="http", daemon=True).start()
    events.append("ready")
    probe = Probe(engine, lambda: _require_answer(spec, engine), lambda: proxy.under_way == 0)
    end = attend(WatchedEngine(engine, proxy, probe), events, WishFile(root / "rt/job/wish.json"), stop)
    if end is not None:
        _tell(events, end)
        engine.kill()
        os._exit(_FAILED)
    proxy.shutdown()
    for _ in range(spec.slots):
        proxy.places.acquire(timeout=_GRACE_S / spec.slots)
    engine.kill()
    os._exit(_STOPPED)


def _on_stop(act: Callable[[], None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: act())


def require_room(weights: Path, limit: Optional[int]) -> None:
    """Weights that do not fit would be read again and again, and no token would come."""
    size = weights.stat().st_size
    if limit is not None and size > limit:
        raise LoadError(ReplicaEnd("out_of_memory", f"the weights have {size} bytes, and the container has {limit} bytes of memory", ""))


def _wait_ready(spec: LlamaSpec, engine: Engine) -> None:
    """Until one real token, or one real vector, came: that an engine listens shows nothing."""
    while not engine.wait_loaded(_LOOK_S):
        _require_running(engine)
    try:
        _require_answer(spec, engine)
    except (OSError, http.client.HTTPException):
        # Its connection ends a moment before it does.
        _require_running(engine, 1)
        raise


def _require_answer(spec: LlamaSpec, engine: Engine) -> None:
    """
    One real token, or one real vector.

    @raise LoadError, OSError, http.client.HTTPException, ValueError
    """
    path, body = ("/v1/embeddings", {"input": "a"}) if spec.embeds else ("/v1/completions", {"prompt": "a", "max_tokens": 1})
    answer = engine.ask(path, body)
    if not (answer.get("data") if spec.embeds else answer.get("choices")):
        raise LoadError(ReplicaEnd("user_exception", f"the model gives no answer: {str(answer)[:300]}", ""))


def _require_running(engine: Engine, within_s: float = 0) -> None:
    end = engine.end(within_s)
    if end is not None:
        raise LoadError(end)


def _end_of(error: BaseException) -> ReplicaEnd:
    if isinstance(error, LoadError):
        return error.end
    reason = "disk_limit" if is_disk_full(error) else "user_exception"
    return ReplicaEnd(reason, f"{type(error).__name__}: {error}", traceback.format_exc())


def _tell(events: LineLog, end: ReplicaEnd) -> None:
    with contextlib.suppress(OSError):
        print(end.message, file=sys.stderr, flush=True)
        events.append("failed", reason=end.reason, message=end.message[:500], detail=end.detail[-4096:])
