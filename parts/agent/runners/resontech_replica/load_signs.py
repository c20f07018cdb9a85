"""Pure: whether an engine that loads gets on. Large weights take minutes, and who says nothing for two is given up."""

from typing import Optional

from .activity import Activity

_EVERY_S = 10.0
# Beyond that nobody waits, however busy it is.
_LONGEST_S = 3_600.0
_TICKS = 20


class LoadSigns:
    """Times are of one clock, in seconds."""

    def __init__(self, now: float):
        self._began = self._told = now
        self._ticks = 0
        self._was_busy = False

    def is_due(self, now: float, activity: Optional[Activity]) -> bool:
        """It has computed, or waited for a disk, since the last one."""
        if activity is None:
            return False
        self._was_busy = self._was_busy or activity.is_busy
        if now - self._told < _EVERY_S or now - self._began > _LONGEST_S:
            return False
        has_run = self._was_busy or activity.ticks - self._ticks >= _TICKS
        self._told, self._ticks, self._was_busy = now, activity.ticks, False
        return has_run
