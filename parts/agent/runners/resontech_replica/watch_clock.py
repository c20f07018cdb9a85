"""Pure: the time through which somebody was watched. A host that stands still, or starves the watcher, adds next to nothing."""

_MOST_S = 1.0


class WatchClock:
    def __init__(self, now: float):
        self._last = now
        self._watched = 0.0

    def tick(self, now: float) -> float:
        """Seconds watched so far; between two looks at most one counts."""
        self._watched += min(_MOST_S, max(0.0, now - self._last))
        self._last = now
        return self._watched
