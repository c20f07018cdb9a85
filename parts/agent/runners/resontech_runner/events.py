"""The runner's half of the file contract: lines that are appended and never rewritten."""

import errno
import json
import threading
from datetime import datetime, timezone
from pathlib import Path
from typing import Any


def seconds_of(entry: dict[str, Any]) -> float:
    """When a line was written, on the wall clock."""
    return datetime.fromisoformat(entry["t"]).timestamp()


def now() -> str:
    """RFC 3339, UTC, milliseconds."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class LineLog:
    """One JSON object a line. Each line is one write, so a reader never sees half of two."""

    def __init__(self, file: Path):
        self._file = open(file, "ab", buffering=0)
        self._lock = threading.Lock()

    def append(self, kind: str, **fields: Any) -> None:
        line = json.dumps({"t": now(), "kind": kind, **fields}, ensure_ascii=False, separators=(",", ":"))
        with self._lock:
            self._file.write(line.encode("utf-8", "replace") + b"\n")

    def close(self) -> None:
        self._file.close()


class FailureReserve:
    """Room on a full disk for the word that it is full."""

    _BYTES = 64 * 1024

    def __init__(self, events: Path):
        self._file = events.with_name("reserve")
        self._file.write_bytes(b"\0" * self._BYTES)

    def release(self) -> None:
        self._file.unlink(missing_ok=True)


def is_disk_full(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


class LineTail:
    """Reads the whole lines that others append to a file, which may not exist yet."""

    def __init__(self, file: Path):
        self._path = file
        self._file = None
        self._rest = b""

    def read(self) -> list[dict[str, Any]]:
        if self._file is None:
            if not self._path.exists():
                return []
            self._file = open(self._path, "rb")
        *lines, self._rest = (self._rest + self._file.read()).split(b"\n")
        return [entry for entry in map(_parse, lines) if entry is not None]

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _parse(line: bytes):
    # The user's code shares this container and could write here too: what is no object of ours is passed over.
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("kind"), str) else None
