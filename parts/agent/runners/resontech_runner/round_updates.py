"""What became of a round's updates: counts for people, warnings by site, and whether the round was one at all. Pure."""

from dataclasses import dataclass, field
from typing import Any, Optional, Union


@dataclass(frozen=True)
class SiteWarning:
    site: str
    topic: str
    text: str
    round: Optional[int] = None


@dataclass(frozen=True)
class RoundCount:
    counts: Union[dict[str, Any], str]
    """As `metrics.jsonl` says it, by fate the sites and why; or NOT_COUNTED."""
    warnings: tuple[SiteWarning, ...]
    shortfall: Optional[str]
    """Why the round's model is none, with the reasons by site."""


NOT_COUNTED = "not counted"


@dataclass
class RoundUpdates:
    sites: tuple[str, ...]
    min_clients: int
    is_counted: bool = False
    _asks_all: bool = False
    _sent: set[str] = field(default_factory=set)
    _fates: dict[str, tuple[str, str]] = field(default_factory=dict)
    _late: dict[str, str] = field(default_factory=dict)
    _notes: dict[str, str] = field(default_factory=dict)

    def workflow(self, is_counted: bool, asks_all: bool, min_clients: Optional[int]) -> None:
        """Another workflow begins; `min_clients` as it states them itself."""
        self.is_counted, self._asks_all = is_counted, asks_all
        self.min_clients = min_clients or self.min_clients

    def sent(self, site: str) -> None:
        self._sent.add(site)

    def came(self, site: str, outcome: str, why: str, note: Optional[str]) -> None:
        """@param outcome: counted, rejected, raised, late"""
        if outcome == "late":
            self._late[site] = why
        # A site that was replaced may train a round twice: what counted stays.
        elif self._fates.get(site, ("", ""))[0] != "counted":
            self._fates[site] = (outcome, why)
        if note is not None:
            self._notes[site] = note

    def counted_sites(self) -> tuple[str, ...]:
        return tuple(sorted(site for site, (outcome, _) in self._fates.items() if outcome == "counted"))

    def close(self, number: int) -> RoundCount:
        """The round is over; what comes from now on belongs to the next."""
        try:
            return self._count(number)
        finally:
            self._sent, self._fates, self._late, self._notes = set(), {}, {}, {}

    def _count(self, number: int) -> RoundCount:
        if not self.is_counted:
            return RoundCount(NOT_COUNTED, (), None)
        by_fate = {
            fate: {site: why for site, (outcome, why) in sorted(self._fates.items()) if outcome == fate} for fate in ("rejected", "raised")
        }
        counted = self.counted_sites()
        asked = set(self.sites) if self._asks_all else self._sent
        silent = sorted(asked.difference(self._fates))
        counts = {
            "sent": sorted(self._sent),
            "counted": list(counted),
            **by_fate,
            "late": sorted(self._late),
            "notHeard": silent,
        }
        warnings = [
            *(SiteWarning(site, "update-rejected", f"its update was rejected: {why}", number) for site, why in by_fate["rejected"].items()),
            *(SiteWarning(site, "update-raised", f"its task failed: {why}", number) for site, why in by_fate["raised"].items()),
            *(SiteWarning(site, "update-late", "its update came after its round had ended and did not count", number) for site in counts["late"]),
            *(SiteWarning(site, "not-heard", "nothing was heard of it before the round ended", number) for site in silent),
            *(SiteWarning(site, "update-note", f"its update was counted, but {note}", number) for site, note in sorted(self._notes.items())),
        ]
        return RoundCount(counts, tuple(warnings), self._shortfall(number, counted, by_fate, silent))

    def _shortfall(self, number: int, counted: tuple[str, ...], by_fate: dict[str, dict[str, str]], silent: list[str]) -> Optional[str]:
        if counted and len(counted) >= self.min_clients:
            return None
        what = "no update" if not counted else f"{len(counted)} of the {self.min_clients} updates that it needs"
        why = [f"{site}: {reason}" for fate in ("rejected", "raised") for site, reason in by_fate[fate].items()]
        why += [f"{site}: not heard" for site in silent]
        return f"round {number} counted {what}" + (f" ({'; '.join(why)})" if why else "")
