"""What the agent asks of a replica: `/rt/job/predictor.json` (contracts/src/agent/predictor-spec.ts)."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional


@dataclass(frozen=True)
class PredictorSpec:
    module: str
    class_name: str
    init_args: dict[str, Any]
    model_path: Optional[Path]
    """Where the weights lie in this container; null where the deployment names none."""
    replica: str
    port: int
    max_ongoing_requests: int
    max_answer_bytes: int
    call_limit_s: float
    """Of one call of `predict`; its caller is told so by then."""


# What a coordinator that does not say it holds to.
_CALL_LIMIT_MS = 60_000


class SpecError(Exception):
    """The agent and this program do not speak the same format."""


def read_spec(file: Path) -> PredictorSpec:
    raw = json.loads(file.read_text(encoding="utf-8"))
    if raw.get("formatVersion") != 1:
        raise SpecError(f"format {raw.get('formatVersion')!r} is not 1")
    return PredictorSpec(
        module=raw["module"],
        class_name=raw["className"],
        init_args=raw["initArgs"],
        model_path=None if raw["modelPath"] is None else Path(raw["modelPath"]),
        replica=raw["replica"],
        port=int(raw["port"]),
        max_ongoing_requests=int(raw["maxOngoingRequests"]),
        max_answer_bytes=int(raw["maxAnswerBytes"]),
        call_limit_s=int(raw.get("callLimitMs", _CALL_LIMIT_MS)) / 1000,
    )
