"""Checkpoints that rank 0 leaves: `step-<n>.pt` in the folder that RESONTECH_CHECKPOINT_DIR names."""

import re
from pathlib import Path
from typing import Optional

from resontech_runner.model_file import ModelFile, settled_model

_NAME = re.compile(r"^step-(\d{1,9})\.pt$")


def name_of(step: int) -> str:
    return f"step-{step}.pt"


def newest_checkpoint(folder: Path, after: Optional[int]) -> Optional[tuple[int, Path]]:
    """The one of the last step, if it is later than `after`. A link could point at anything in the container."""
    found = [
        (int(match[1]), file) for file in folder.iterdir() if (match := _NAME.match(file.name)) and file.is_file() and not file.is_symlink()
    ]
    newest = max(found, default=None)
    return None if newest is None or (after is not None and newest[0] <= after) else newest


def settled_checkpoint(folder: Path, after: Optional[int]) -> Optional[tuple[int, ModelFile]]:
    """The same once nobody writes it any more; null before."""
    newest = newest_checkpoint(folder, after)
    if newest is None:
        return None
    file = settled_model(newest[1])
    return None if file is None else (newest[0], file)
