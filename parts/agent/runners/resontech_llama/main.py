"""Composition: the spec, and llama.cpp with it."""

import sys
from pathlib import Path
from typing import Optional

from resontech_replica.attend import ReplicaEnd
from resontech_replica.engine import Engine, EngineProgram, engine_socket
from resontech_replica.engine_calls import Dialect
from resontech_replica.run_engine import EngineLoadError, EnginePlan, SmallCall, run_engine
from resontech_runner.environment import cpu_quota
from resontech_runner.memory_limit import memory_limit_bytes

from .spec import LlamaSpec, read_spec
from .tools import not_done, tool_support
from .words import WORDS, decodes_of, refusal_of

_PACKAGES = str(Path(__file__).resolve().parents[1])


def main(root: Path = Path("/")) -> int:
    def plan() -> EnginePlan:
        spec = read_spec(root / "rt/job/llama.json")
        require_room(spec.model_path, memory_limit_bytes())
        return EnginePlan(spec, _program(spec), _small_call(spec), decodes_of, _dialect)

    return run_engine(root, plan)


def _dialect(engine: Engine) -> Dialect:
    props = engine.get("/props")
    tools = tool_support(props)
    # Its usage tells of one choice, and it knows no tool that the caller demands by name.
    return Dialect(refusal=refusal_of, counts_all=False, tools=tools, knows_calls=tools.reads, not_done=not_done(props), tells_logprobs=False)


def require_room(weights: Path, limit: Optional[int]) -> None:
    """Weights that do not fit would be read again and again, and no token would come."""
    size = weights.stat().st_size
    if limit is not None and size > limit:
        raise EngineLoadError(ReplicaEnd("out_of_memory", f"the weights have {size} bytes, and the container has {limit} bytes of memory", ""))


def _program(spec: LlamaSpec) -> EngineProgram:
    socket = engine_socket()
    told = {
        "name": spec.name,
        "modelPath": str(spec.model_path),
        "socket": str(socket),
        "slots": spec.slots,
        "contextTokens": spec.context_tokens,
        "embeds": spec.embeds,
        "pooling": spec.pooling,
        "threads": cpu_quota(),
    }
    command = [sys.executable, "-u", "-m", "resontech_llama.engine_process"]
    return EngineProgram(command, {"PYTHONPATH": _PACKAGES}, socket, WORDS, told)


def _small_call(spec: LlamaSpec) -> SmallCall:
    if spec.embeds:
        return SmallCall("/v1/embeddings", {"input": "a"}, "data")
    return SmallCall("/v1/completions", {"prompt": "a", "max_tokens": 1}, "choices")
