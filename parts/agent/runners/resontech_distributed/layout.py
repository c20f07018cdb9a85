"""Where things lie in the container."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    spec: Path = Path("/rt/job/spec.json")
    events: Path = Path("/rt/events/events.jsonl")
    resume: Path = Path("/rt/job/resume/model.pt")
    """At the meeting point: what a resumed attempt goes on from."""
    checkpoints: Path = Path("/app/workspace/checkpoints")
    out: Path = Path("/app/out")
    listen: str = "0.0.0.0"
    """Of the meeting point."""
