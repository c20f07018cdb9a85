"""What the agent asks of this program: `/rt/job/llama.json` (contracts/src/agent/llama-spec.ts)."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Optional


@dataclass(frozen=True)
class LlamaSpec:
    name: str
    """What answers call the model."""
    model_path: Path
    embeds: bool
    """The model embeds texts; else it generates tokens."""
    pooling: Optional[str]
    """How one vector comes of a text's many: `mean`, `cls` or `last`; null: as the weights say."""
    replica: str
    port: int
    slots: int
    context_tokens: int
    """Of one call."""
    max_body_bytes: int
    allowed: dict[str, frozenset[str]]
    """By path, the fields of a body that reach the engine."""


class SpecError(Exception):
    """The agent and this program do not speak the same format."""


def read_spec(file: Path) -> LlamaSpec:
    raw = json.loads(file.read_text(encoding="utf-8"))
    if raw.get("formatVersion") != 1:
        raise SpecError(f"format {raw.get('formatVersion')!r} is not 1")
    if raw["task"] not in ("generate", "embed"):
        raise SpecError(f"task {raw['task']!r} is neither generate nor embed")
    return LlamaSpec(
        name=raw["name"],
        model_path=Path(raw["modelPath"]),
        embeds=raw["task"] == "embed",
        pooling=raw["pooling"],
        replica=raw["replica"],
        port=int(raw["port"]),
        slots=int(raw["slots"]),
        context_tokens=int(raw["contextTokens"]),
        max_body_bytes=int(raw["maxBodyBytes"]),
        allowed={path: frozenset(fields) for path, fields in raw["allowed"].items()},
    )
