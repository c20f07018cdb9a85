"""Pure: what of a request reaches an engine, and what of its refusals comes back."""

import json
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Mapping, Optional, Sequence

from .bad_call import BadCall
from .choices import Part, parts_of
from .logprobs import LogprobsWish, logprobs_wish
from .tool_calls import ABSENT, DROP, FORCE, REFUSE, ToolSupport, forced_call, in_words, tool_action, tool_wish, without_tools

GETS = {"/health": "/health", "/v1/models": "/v1/models"}
"""Asked without a body; the engine's own paths by ours."""


_CHAT = "/v1/chat/completions"


@dataclass(frozen=True)
class Refusal:
    type: str
    """As the gateway knows it: parts/inference-gateway/src/openai/engine-refusal.ts."""
    message: str
    param: Optional[str] = None
    """The field of the body that is meant."""


@dataclass(frozen=True)
class Dialect:
    """How an engine's API differs from the one that the gateway speaks."""

    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Fields that every body has, whatever the caller says."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """The engine's name of a field by ours."""
    refusal: Optional[Callable[[int, bytes], Refusal]] = None
    """Of a status of 400 or more with its body; null where the gateway reads the engine's own words."""
    counts_all: bool = True
    """Its usage is that of all choices; else it is asked for one at a time."""
    tools: ToolSupport = ToolSupport(reads=True, forces=True)
    knows_calls: bool = True
    """Messages may hold earlier calls of tools and their results; else they are told in words."""
    not_done: Mapping[str, str] = field(default_factory=dict)
    """Fields that this model does nothing with, and why: a caller that says one is refused."""
    tells_logprobs: bool = True
    """In the forms of OpenAI's API; else they are made of llama.cpp's: see logprobs.py."""


@dataclass(frozen=True)
class EngineCalls:
    """What an engine is asked for one call of a caller's."""

    parts: Sequence[Part]
    finish_reason: Optional[str]
    """Of a call of a tool that was forced; null where none was."""
    is_stream: bool
    wants_usage: bool
    logprobs: Optional[LogprobsWish] = None
    """Null where the engine's own are told, or none."""

    @property
    def is_plain(self) -> bool:
        """The engine's answer goes on as it comes."""
        return len(self.parts) == 1 and self.finish_reason is None and self.logprobs is None


def fields_of(path: str, allowed: Mapping[str, frozenset[str]]) -> Optional[frozenset[str]]:
    """The fields that a body may have; null where the path leads nowhere. Nothing in the path is decoded."""
    return allowed.get(path)


def engine_calls(path: str, raw: bytes, fields: frozenset[str], dialect: Dialect = Dialect()) -> EngineCalls:
    """
    The body anew, once for each call of the engine's, without the fields that an engine reads and a caller has no business with.

    @raise BadCall
    """
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadCall(f"the body is no JSON: {error}") from error
    if not isinstance(said, dict):
        raise BadCall("the body is no JSON object")
    passed = {name: value for name, value in said.items() if name in fields}
    for name, why in dialect.not_done.items():
        if passed.get(name) is not None:
            raise BadCall(why, name, "unsupported_by_model")
    finish = None
    if path == _CHAT:
        passed, finish = _with_tools(passed, dialect)
    is_stream = passed.get("stream") is True
    options = passed.get("stream_options")
    logprobs = None if dialect.tells_logprobs else logprobs_wish(path, passed)
    if logprobs is not None:
        passed = logprobs.asked(passed)
    parts = [Part(0, passed, True)] if dialect.counts_all and finish is None else parts_of(path, passed)
    if is_stream and (len(parts) > 1 or finish is not None or logprobs is not None):
        parts = [replace(part, body={**part.body, "stream_options": {"include_usage": True}}) for part in parts]
    return EngineCalls(
        [replace(part, body=_in_dialect(part.body, dialect)) for part in parts],
        finish,
        is_stream,
        isinstance(options, dict) and options.get("include_usage") is True,
        logprobs,
    )


def _with_tools(body: dict[str, Any], dialect: Dialect) -> tuple[dict[str, Any], Optional[str]]:
    """The body, and the reason of a forced call's end."""
    if not dialect.knows_calls and "messages" in body:
        body = {**body, "messages": in_words(body["messages"])}
    wish = tool_wish(body)
    action = tool_action(wish, dialect.tools)
    if action == REFUSE:
        raise BadCall(f"{dialect.tools.why_unread}: demand a call by tool_choice, or deploy a model that calls tools", "tools", "unsupported_by_model")
    if action == FORCE:
        forced = forced_call(body)
        return forced.body, forced.finish_reason
    # An engine may take an empty list for a fault.
    return (without_tools(body) if action == DROP or wish == ABSENT else body), None


def _in_dialect(body: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    return {**{dialect.renamed.get(name, name): value for name, value in body.items()}, **dialect.fixed}
