"""Pure: what llama.cpp does with tools: it finds calls where the model's chat template knows them, and takes a call that is demanded for a wish."""

import json

from resontech_replica.tool_calls import ToolSupport


def tool_support(props: bytes) -> ToolSupport:
    """
    @param props: what the engine says of itself at `/props`; it tried the template out
    """
    try:
        said = json.loads(props)
        reads = said["chat_template_caps"]["supports_tools"] is True
    except (ValueError, KeyError, TypeError):
        reads = False
    return ToolSupport(reads=reads, forces=False)
