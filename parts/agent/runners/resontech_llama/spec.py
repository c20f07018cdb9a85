"""What the agent asks of this program: `/rt/job/llama.json` (contracts/src/agent/llama-spec.ts)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from resontech_replica.engine_spec import EngineSpec, SpecError, read_common


@dataclass(frozen=True)
class LlamaSpec(EngineSpec):
    embeds: bool
    """The model embeds texts; else it generates tokens."""
    pooling: Optional[str]
    """How one vector comes of a text's many: `mean`, `cls` or `last`; null: as the weights say."""


def read_spec(file: Path) -> LlamaSpec:
    """@raise SpecError, OSError, ValueError, KeyError"""
    raw, common = read_common(file)
    if raw["task"] not in ("generate", "embed"):
        raise SpecError(f"task {raw['task']!r} is neither generate nor embed")
    return LlamaSpec(**common, embeds=raw["task"] == "embed", pooling=raw["pooling"])
