"""Pure: how a process with a model stands, by what it says every second. How long a call may take is the contract's to say; nothing else shows that it makes progress."""

from typing import Any

from .standing import HUNG, IS_WELL, STALLED, STALLED_S, Judgement, judge, worst

# Beyond the limit of a call, whose caller has been told of it by then.
_GRACE_S = 5.0


class CallProgress:
    """Times are of one clock, in seconds, which counts only what was watched."""

    def __init__(self, call_limit_s: float, now: float):
        self._call_limit_s = call_limit_s
        self.reset(now)

    def reset(self, now: float) -> None:
        self._beat_at = now
        self._moved_at = now
        self._oldest_began_at: float | None = None
        self._ended: Any = None
        self.beats = 0

    def hear(self, now: float, beat: dict[str, Any]) -> None:
        self._beat_at = now
        self.beats += 1
        oldest, ended = beat.get("oldestS"), beat.get("ended")
        is_number = isinstance(oldest, (int, float)) and not isinstance(oldest, bool)
        self._oldest_began_at = now - oldest if is_number else None
        if ended != self._ended or not is_number:
            self._moved_at = now
        self._ended = ended

    def judge(self, now: float, ran_at: float) -> Judgement:
        """@param ran_at: when its process was last seen to run"""
        limit = self._call_limit_s + _GRACE_S
        silent = judge(now, self._beat_at, ran_at, limit, "the process of the model has not answered")
        return worst(silent, self._judge_calls(now, limit))

    def _judge_calls(self, now: float, limit: float) -> Judgement:
        if self._oldest_began_at is None:
            return IS_WELL
        runs = now - self._oldest_began_at
        if runs > limit:
            return Judgement(HUNG, f"a call runs for {runs:.0f} s, and a call has {self._call_limit_s:.0f} s")
        if min(runs, now - self._moved_at) > STALLED_S:
            return Judgement(STALLED, f"no call has ended for {now - self._moved_at:.0f} s")
        return IS_WELL
