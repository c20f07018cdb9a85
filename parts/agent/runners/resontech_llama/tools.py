"""Pure: what llama.cpp's model can, by its chat template: calls of tools are found where it knows them, and one that is demanded is taken for a wish."""

import json

from resontech_replica.tool_calls import ToolSupport


def tool_support(props: bytes) -> ToolSupport:
    """
    @param props: what the engine says of itself at `/props`; it tried the template out
    """
    return ToolSupport(reads=_can(props, "supports_tools"), forces=False)


def not_done(props: bytes) -> dict[str, str]:
    """Fields that the model is not shown, and why."""
    if _can(props, "supports_reasoning_effort"):
        return {}
    return {"reasoning_effort": "the model's chat template knows no reasoning_effort: send the call without it"}


def _can(props: bytes, name: str) -> bool:
    try:
        return json.loads(props)["chat_template_caps"][name] is True
    except (ValueError, KeyError, TypeError):
        return False
