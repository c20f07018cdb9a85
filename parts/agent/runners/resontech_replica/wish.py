"""What the agent wishes of a replica: `/rt/job/wish.json`, replaced as a whole (contracts/src/agent/replica-spec.ts)."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Optional


@dataclass(frozen=True)
class Wish:
    order: int
    """Another one with each wish; what is told names the one that it answers."""
    asleep: bool


FIRST_WISH = Wish(0, False)


class WishFile:
    def __init__(self, file: Path):
        self._file = file
        self._seen: Optional[tuple[int, int]] = None
        self._last = FIRST_WISH

    def read(self) -> Wish:
        """Asked many times a second: the file is opened where it is another one."""
        try:
            stat = self._file.stat()
            seen = (stat.st_ino, stat.st_mtime_ns)
            if seen != self._seen:
                said = json.loads(self._file.read_text(encoding="utf-8"))
                self._last = Wish(int(said["order"]), bool(said["asleep"]))
                self._seen = seen
        except FileNotFoundError:
            """Nobody has wished for anything."""
        return self._last
