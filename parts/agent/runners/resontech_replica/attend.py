"""While a replica is up: its end, how it stands, its sleep. The agent hears by events of kind `standing`."""

import time
from dataclasses import dataclass
from threading import Event
from typing import Optional, Protocol

from resontech_runner.events import LineLog

from .standing import HUNG, WELL, Judgement
from .watch_clock import WatchClock
from .wish import FIRST_WISH, WishFile

_LOOK_S = 0.05
# What is waited for is looked at each time.
_JUDGE_S = 0.25
_ASLEEP = "asleep"


@dataclass(frozen=True)
class ReplicaEnd:
    reason: str
    """Of contracts/src/job/job-reasons.ts."""
    message: str
    detail: str


class Attended(Protocol):
    """Times are those of one clock, which counts only what was watched."""

    def end(self) -> Optional[ReplicaEnd]:
        """Null where it runs on."""

    def judge(self, now: float) -> Judgement: ...

    def freeze(self) -> None:
        """It stops where it is; what it has loaded stays mapped."""

    def thaw(self, now: float) -> None:
        """What it did not get done while it slept counts for nothing."""

    def is_awake(self) -> bool:
        """It has done real work since it was thawed."""


def attend(replica: Attended, events: LineLog, wishes: WishFile, stop: Event) -> Optional[ReplicaEnd]:
    """Null where it was told to stop."""
    clock = WatchClock(time.monotonic())
    wish, told, is_waking = FIRST_WISH, WELL, False
    judged_at = 0.0
    while not stop.wait(_LOOK_S):
        now = clock.tick(time.monotonic())
        end = replica.end()
        if end is not None:
            return end
        wished = wishes.read()
        if wished != wish:
            if wished.asleep and not wish.asleep:
                replica.freeze()
            elif wish.asleep and not wished.asleep:
                replica.thaw(now)
            wish = wished
            is_waking = not wish.asleep
            told = ""
        if wish.asleep:
            standing = _ASLEEP
        elif not is_waking and now - judged_at < _JUDGE_S:
            continue
        else:
            judged_at = now
            judgement = replica.judge(now)
            if judgement.standing == HUNG:
                return ReplicaEnd("no_progress", judgement.why, "")
            is_waking = is_waking and not replica.is_awake()
            standing = told if is_waking else judgement.standing
        if standing != told:
            events.append("standing", standing=standing, order=wish.order)
            told = standing
    return None
