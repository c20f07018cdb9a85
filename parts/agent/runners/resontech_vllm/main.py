"""Composition: the spec, and vLLM with it."""

import sys
from importlib.metadata import version
from pathlib import Path

from resontech_replica.engine import EngineProgram, engine_socket
from resontech_replica.engine_calls import Dialect
from resontech_replica.run_engine import EnginePlan, SmallCall, run_engine
from resontech_runner.environment import cpu_quota

from .command_line import arguments, environment
from .spec import VllmSpec, read_spec
from .tools import chat_template_of, not_done, tool_support
from .words import WORDS, refusal_of, steps_of

# The image's `vllm`, by the interpreter that runs this program; never one of the folder that it happens to stand in.
_SERVE = [sys.executable, "-u", "-P", "-m", "vllm.entrypoints.cli.main", "serve"]
# Ours are llama.cpp's.
_RENAMED = {"repeat_penalty": "repetition_penalty"}


def main(root: Path = Path("/")) -> int:
    def plan() -> EnginePlan:
        spec = read_spec(root / "rt/job/vllm.json")
        socket = engine_socket()
        program = EngineProgram([*_SERVE, *arguments(spec, socket, version("vllm"))], environment(cpu_quota()), socket, WORDS)
        template = chat_template_of(spec.model_path)
        tools = tool_support(spec.tool_call_parser, template)
        dialect = Dialect({"model": spec.name}, _RENAMED, refusal_of, tools=tools, not_done=not_done(template))
        return EnginePlan(spec, program, _small_call(spec), steps_of, lambda _: dialect)

    return run_engine(root, plan)


def _small_call(spec: VllmSpec) -> SmallCall:
    return SmallCall("/v1/completions", {"model": spec.name, "prompt": "a", "max_tokens": 1}, "choices")
