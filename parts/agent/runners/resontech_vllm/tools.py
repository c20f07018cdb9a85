"""What vLLM does with tools: it forces a call by itself, and finds those that a model makes where a parser is named."""

import json
import re
from pathlib import Path
from typing import Any, Optional

from resontech_replica.tool_calls import ToolSupport

_TOOLS = re.compile(r"\btools\b")
_EFFORT = re.compile(r"\breasoning_effort\b")


def tool_support(parser: Optional[str], chat_template: Optional[str]) -> ToolSupport:
    """
    @param parser: by which vLLM finds calls
    @param chat_template: null where the model has none: a parser may bring its own words then
    """
    if parser is None:
        return ToolSupport(reads=False, forces=True, why_unread="the deployment names no vllm.tool_call_parser")
    return ToolSupport(reads=chat_template is None or _TOOLS.search(chat_template) is not None, forces=True)


def not_done(chat_template: Optional[str]) -> dict[str, str]:
    """Fields that the model is not shown, and why."""
    if chat_template is not None and _EFFORT.search(chat_template):
        return {}
    return {"reasoning_effort": "the model's chat template knows no reasoning_effort: send the call without it"}


def chat_template_of(model: Path) -> Optional[str]:
    """As Hugging Face's libraries find it. @raise OSError, ValueError"""
    file = model / "chat_template.jinja"
    if file.is_file():
        return file.read_text(encoding="utf-8")
    told = model / "tokenizer_config.json"
    return _template(json.loads(told.read_text(encoding="utf-8")).get("chat_template")) if told.is_file() else None


def _template(said: Any) -> Optional[str]:
    # Several, by names: one is for tools.
    if isinstance(said, list):
        return "\n".join(str(one.get("template")) for one in said if isinstance(one, dict))
    return said if isinstance(said, str) else None
