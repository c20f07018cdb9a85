"""Whether a process does anything: its processor time, and whether one of its threads could run."""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Optional

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


def activity_of_session(session: int, proc: Path = Path("/proc")) -> Optional[Activity]:
    """Of the process that began the session and all that it has started; null where none is left."""
    found = [activity for pid in _of_session(session, proc) if (activity := activity_of(pid, proc)) is not None]
    if not found:
        return None
    return Activity(sum(one.ticks for one in found), any(one.is_busy for one in found))


def _of_session(session: int, proc: Path) -> Iterator[int]:
    for process in proc.iterdir():
        if process.name.isdecimal():
            # It may end while it is looked at.
            with contextlib.suppress(OSError, IndexError):
                if _fields(process / "stat")[3] == str(session):
                    yield int(process.name)


def _state(thread: Path) -> str:
    try:
        return _fields(thread / "stat")[0]
    except OSError:
        return ""


def _fields(stat: Path) -> list[str]:
    """From the state on: the name before it may hold anything, brackets too."""
    return stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
