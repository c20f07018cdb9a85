"""What the agent asks of every program around an engine; `read_common` reads it out of the program's own file."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class EngineSpec:
    name: str
    """What answers call the model."""
    model_path: Path
    replica: str
    port: int
    slots: int
    """Calls at once."""
    context_tokens: int
    """Of one call."""
    max_body_bytes: int
    allowed: dict[str, frozenset[str]]
    """By path, the fields of a body that reach the engine."""


class SpecError(Exception):
    """The agent and this program do not speak the same format."""


def read_common(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """
    The file as it is, and of it the fields of every EngineSpec.

    @raise SpecError, OSError, ValueError, KeyError
    """
    raw = json.loads(file.read_text(encoding="utf-8"))
    if raw.get("formatVersion") != 1:
        raise SpecError(f"format {raw.get('formatVersion')!r} is not 1")
    return raw, {
        "name": raw["name"],
        "model_path": Path(raw["modelPath"]),
        "replica": raw["replica"],
        "port": int(raw["port"]),
        "slots": int(raw["slots"]),
        "context_tokens": int(raw["contextTokens"]),
        "max_body_bytes": int(raw["maxBodyBytes"]),
        "allowed": {path: frozenset(fields) for path, fields in raw["allowed"].items()},
    }
