"""What the agent asks of this program: `/rt/job/vllm.json` (contracts/src/agent/vllm-spec.ts)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from resontech_replica.engine_spec import EngineSpec, SpecError, read_common


@dataclass(frozen=True)
class VllmSpec(EngineSpec):
    memory_share: float
    """Of each device's memory."""
    devices: int
    tool_call_parser: Optional[str]
    reasoning_parser: Optional[str]


def read_spec(file: Path) -> VllmSpec:
    """@raise SpecError, OSError, ValueError, KeyError"""
    raw, common = read_common(file)
    share = float(raw["memoryShare"])
    if not 0 < share < 1:
        raise SpecError(f"a share of {share} of a device's memory is none")
    return VllmSpec(
        **common,
        memory_share=share,
        devices=int(raw["devices"]),
        tool_call_parser=raw["toolCallParser"],
        reasoning_parser=raw["reasoningParser"],
    )
