"""Whether a process does anything: its processor time, and whether one of its threads could run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

# Running or about to, or waiting for a disk: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
_BUSY = ("R", "D")


@dataclass(frozen=True)
class Activity:
    ticks: int
    """Of processor time, all threads together."""
    is_busy: bool


def activity_of(pid: int, proc: Path = Path("/proc")) -> Optional[Activity]:
    """Null where there is no such process any more."""
    try:
        ticks = sum(int(field) for field in _fields(proc / str(pid) / "stat")[11:13])
        threads = [_state(thread) for thread in (proc / str(pid) / "task").iterdir()]
    except (OSError, IndexError, ValueError):
        return None
    return Activity(ticks, any(state in _BUSY for state in threads))


def _state(thread: Path) -> str:
    try:
        return _fields(thread / "stat")[0]
    except OSError:
        return ""


def _fields(stat: Path) -> list[str]:
    """From the state on: the name before it may hold anything, brackets too."""
    return stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
