"""The global model on disk: where it is sought, and when it may be believed."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

_BLOCK = 1 << 20
# The kernel stamps files with a clock that ticks a hundred times a second at least.
_CLOCK_GRAIN_S = 0.02
DEFAULT_MODEL_NAME = "GLOBAL_MODEL.pt"
"""`RESONTECH_OUT_FILENAME` of the hosted contract."""


@dataclass(frozen=True)
class ModelFile:
    path: Path
    sha256: str
    mtime: float


def find_model(out: Path, site_workspace: Path, job_id: Optional[str]) -> Optional[Path]:
    """HOSTED-API: first `$RESONTECH_OUT_DIR/$RESONTECH_OUT_FILENAME`, then the app's `FL_global_model.pt`."""
    candidates = [out / DEFAULT_MODEL_NAME]
    if job_id:
        candidates.append(site_workspace / job_id / "app_server" / "FL_global_model.pt")
    for candidate in candidates:
        # A link could point at anything in the container; the agent uploads plain files alone.
        if candidate.is_file() and not candidate.is_symlink():
            return candidate
    return None


def settled_model(path: Path) -> Optional[ModelFile]:
    """The file with its digest, if nobody holds it open for writing and it did not change while it was read; else None."""
    try:
        with open(path, "rb") as file:
            before = os.fstat(file.fileno())
            if before.st_size == 0 or is_open_for_writing(before):
                return None
            digest = hashlib.sha256()
            while block := file.read(_BLOCK):
                digest.update(block)
        after = os.stat(path)
    except OSError:
        return None
    if _identity(before) != _identity(after) or is_open_for_writing(after):
        return None
    return ModelFile(path, digest.hexdigest(), after.st_mtime)


def is_older(mtime_ns: int, since: float) -> bool:
    """Whether a file was last written before a moment of the wall clock, in seconds. Some file systems keep whole seconds alone."""
    if mtime_ns % 1_000_000_000 == 0:
        return mtime_ns // 1_000_000_000 < int(since)
    return mtime_ns / 1e9 < since - _CLOCK_GRAIN_S


def _identity(stat: os.stat_result):
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def is_open_for_writing(stat: os.stat_result) -> bool:
    """Whether a process that we may look into (all of the container's: one uid) has the file open for writing."""
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            descriptors = list((process / "fd").iterdir())
        except OSError:
            continue
        for descriptor in descriptors:
            try:
                held = os.stat(descriptor)
                if (held.st_dev, held.st_ino) != (stat.st_dev, stat.st_ino):
                    continue
                flags = (process / "fdinfo" / descriptor.name).read_text().split("flags:")[1].split()[0]
            except (OSError, IndexError):
                continue
            if int(flags, 8) & os.O_ACCMODE != os.O_RDONLY:
                return True
    return False
