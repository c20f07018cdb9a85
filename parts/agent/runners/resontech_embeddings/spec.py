"""What the agent asks of this program: `/rt/job/embeddings.json` (contracts/src/agent/embeddings-spec.ts)."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class EmbeddingsSpec:
    name: str
    """What answers call the model."""
    folder: Path
    """Of the model, in Hugging Face's layout."""
    replica: str
    port: int
    most: int
    """Calls at once; they are embedded in turns."""
    max_inputs: int
    max_body_bytes: int
    call_limit_s: float


class SpecError(Exception):
    """The agent and this program do not speak the same format."""


def read_spec(file: Path) -> EmbeddingsSpec:
    raw = json.loads(file.read_text(encoding="utf-8"))
    if raw.get("formatVersion") != 1:
        raise SpecError(f"format {raw.get('formatVersion')!r} is not 1")
    return EmbeddingsSpec(
        name=raw["name"],
        folder=Path(raw["folder"]),
        replica=raw["replica"],
        port=int(raw["port"]),
        most=int(raw["maxOngoingRequests"]),
        max_inputs=int(raw["maxInputs"]),
        max_body_bytes=int(raw["maxBodyBytes"]),
        call_limit_s=int(raw["callLimitMs"]) / 1000,
    )
