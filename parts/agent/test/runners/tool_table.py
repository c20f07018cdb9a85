"""What becomes of tools on each engine, out of the adapters themselves: `python3 parts/agent/test/runners/tool_table.py` writes it into the document."""

import sys
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(_REPOSITORY / "parts/agent/runners"))

from resontech_llama.tools import tool_support as llama  # noqa: E402
from resontech_replica.tool_calls import DROP, FORCE, PASS, REFUSE, WISHES, tool_action  # noqa: E402
from resontech_vllm.tools import tool_support as vllm  # noqa: E402

DOCUMENT = _REPOSITORY / "docs/researcher/openai.md"
ENGINES = {
    "llama.cpp, template knows tools": llama(b'{"chat_template_caps":{"supports_tools":true}}'),
    "llama.cpp, template knows none": llama(b'{"chat_template_caps":{"supports_tools":false}}'),
    "vLLM with `tool_call_parser`": vllm("hermes", "{% if tools %}"),
    "vLLM with it, template knows none": vllm("hermes", "{{ messages }}"),
    "vLLM without": vllm(None, "{% if tools %}"),
}
_CALLS = {"none": "`none`", "auto": "`auto`, or not said", "required": "`required`", "named": "a named function"}
_WORDS = {PASS: "done", DROP: "done: tools are left out", FORCE: "done by a schema", REFUSE: "refused"}


def table() -> str:
    lines = [f"| `tool_choice` | {' | '.join(ENGINES)} |", "|---" * (len(ENGINES) + 1) + "|"]
    for wish in WISHES:
        if wish in _CALLS:
            lines.append(f"| {_CALLS[wish]} | {' | '.join(_WORDS[tool_action(wish, support)] for support in ENGINES.values())} |")
    return "\n".join(lines)


def written(text: str) -> str:
    """The document with the table of now in the place of its own."""
    head = "| `tool_choice` |"
    lines = text.split("\n")
    first = next(at for at, line in enumerate(lines) if line.startswith(head))
    last = next(at for at in range(first, len(lines)) if not lines[at].startswith("|"))
    return "\n".join([*lines[:first], table(), *lines[last:]])


if __name__ == "__main__":
    DOCUMENT.write_text(written(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
