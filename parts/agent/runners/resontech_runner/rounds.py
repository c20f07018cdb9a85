"""Rounds as any NVFlare workflow shows them, from the journal of our component in the server's job process.

Some workflows tell both ends of a round, some only its start, some neither: then the round number that a task carries is
enough. A round ends when it is told, when a later one starts, or when the run ends.
"""

from dataclasses import dataclass, field
from typing import Optional, Union


@dataclass(frozen=True)
class RoundStarted:
    round: int
    num_rounds: Optional[int]


@dataclass(frozen=True)
class RoundEnded:
    round: int
    sites: tuple[str, ...]
    started_at: float
    """Wall clock, seconds."""


RoundFact = Union[RoundStarted, RoundEnded]


@dataclass
class RoundTracker:
    num_rounds: Optional[int] = None
    current: Optional[int] = None
    ended: Optional[int] = None
    started_at: float = 0.0
    _sites: list[str] = field(default_factory=list)

    def started(self, number: int, num_rounds: Optional[int], at: float) -> list[RoundFact]:
        """A round number was seen, by event or on a task; `at` is the wall clock in seconds."""
        if num_rounds is not None:
            self.num_rounds = num_rounds
        if self.current is not None and number <= self.current:
            return []
        facts = self.finished()
        self.current = number
        self.started_at = at
        self._sites = []
        return [*facts, RoundStarted(number, self.num_rounds)]

    def contributed(self, site: str) -> None:
        if self.current is not None and self.ended != self.current and site not in self._sites:
            self._sites.append(site)

    def finished(self) -> list[RoundFact]:
        """The current round is over, told or implied; safe to repeat."""
        if self.current is None or self.ended == self.current:
            return []
        self.ended = self.current
        return [RoundEnded(self.current, tuple(sorted(self._sites)), self.started_at)]
