"""Pure: how a replica stands, judged by what it has got done and not by whether it says that it is well."""

from dataclasses import dataclass
from typing import Literal, Optional

Standing = Literal["well", "stalled", "hung"]

WELL: Standing = "well"
STALLED: Standing = "stalled"
"""It may be busy: it is asked only where there is no other."""
HUNG: Standing = "hung"

# A process that has next to not run for so long, with work before it, waits for nothing that comes.
FROZEN_S = 10.0
STALLED_S = 8.0


@dataclass(frozen=True)
class Judgement:
    standing: Standing
    why: str


IS_WELL = Judgement(WELL, "")


def judge(now: float, moved_at: float, ran_at: float, patience_s: float, what: str) -> Judgement:
    """
    Times are of one clock, in seconds.

    @param moved_at: of the last progress
    @param ran_at: when a thread of it was last seen to run, or ready to
    @param patience_s: without progress, however busy it is
    @param what: has made no progress, in words
    """
    silent = now - moved_at
    if silent > patience_s:
        return Judgement(HUNG, f"{what} for {silent:.0f} s")
    if silent > FROZEN_S and now - ran_at > FROZEN_S:
        return Judgement(HUNG, f"{what} for {silent:.0f} s, and next to nothing of it runs")
    return Judgement(STALLED, f"{what} for {silent:.0f} s") if silent > STALLED_S else IS_WELL


def worst(*judgements: Judgement) -> Judgement:
    order = (WELL, STALLED, HUNG)
    return max(judgements, key=lambda one: order.index(one.standing))


class RanAt:
    """
    When a process was last seen to have run for real. Threads that wait for a lock of the interpreter wake all the time and do nothing; those that
    a busy host gives no processor could run for most of the time, and do not.
    """

    _WINDOW_S = 2.0
    _TICKS = 20
    _BUSY_SHARE = 0.5

    def __init__(self, now: float):
        self._at = self._last = self._began = now
        self._ticks: Optional[int] = None
        self._busy_s = 0.0

    def see(self, now: float, ticks: int, is_busy: bool) -> float:
        """@param ticks: its processor time so far"""
        if self._ticks is None:
            self._ticks = ticks
        if is_busy:
            self._busy_s += now - self._last
        self._last = now
        window = now - self._began
        if window >= self._WINDOW_S:
            if ticks - self._ticks >= self._TICKS or self._busy_s >= self._BUSY_SHARE * window:
                self._at = now
            self._began, self._ticks, self._busy_s = now, ticks, 0.0
        return self._at
