"""The engine as it is attended: its end, its progress, its sleep."""

from typing import Optional

from .attend import ReplicaEnd
from .engine import Engine
from .engine_probe import EngineProbe
from .engine_proxy import EngineProxy
from .standing import IS_WELL, Judgement, RanAt, judge

# A step is small, but of a large model it takes its time: as often as long as the slowest one so far, and a minute at least.
_PATIENCE_S = 60.0
_PATIENCE_STEPS = 20
_WHAT = "the engine has got nothing done"


class WatchedEngine:
    def __init__(self, engine: Engine, proxy: EngineProxy, probe: EngineProbe):
        self._engine = engine
        self._proxy = proxy
        self._probe = probe
        self._ran = RanAt(0.0)
        self._moved_at = 0.0
        self._slowest = 0.0
        self._progress = -1
        self._tokens_at_thaw = -1

    def end(self) -> Optional[ReplicaEnd]:
        return self._engine.end()

    def judge(self, now: float) -> Judgement:
        progress = self._probe.progress + self._proxy.pieces
        if progress != self._progress:
            self._slowest = max(self._slowest, now - self._moved_at)
            self._progress, self._moved_at = progress, now
        activity = self._engine.activity()
        if activity is None:
            return IS_WELL
        ran_at = self._ran.see(now, activity.ticks, activity.is_busy)
        patience = max(_PATIENCE_S, _PATIENCE_STEPS * self._slowest)
        return judge(now, self._moved_at, ran_at, patience, _WHAT)

    def freeze(self) -> None:
        self._engine.freeze()

    def thaw(self, now: float) -> None:
        self._moved_at, self._ran = now, RanAt(now)
        self._tokens_at_thaw = self._probe.tokens
        self._engine.thaw()
        self._probe.ask_soon()

    def is_awake(self) -> bool:
        return self._probe.tokens > self._tokens_at_thaw
