"""
Pure: what becomes of the tools of a chat: what the engine answers by itself, what is forced by a schema, what is refused.

A forced answer is one JSON object, `{"name": …, "arguments": {…}}`, whose schema is the union of the functions that may be called.
The engine is told that schema, the model is told the functions in words, and the answer goes on as a call of a tool.
"""

import json
import re
import uuid
from dataclasses import dataclass, field
from typing import Any, Optional, Sequence

from .bad_call import BadCall

ABSENT, NONE, AUTO, REQUIRED, NAMED = "no tools", "none", "auto", "required", "named"
WISHES = (ABSENT, NONE, AUTO, REQUIRED, NAMED)

PASS, DROP, FORCE, REFUSE = "pass", "drop", "force", "refuse"


@dataclass(frozen=True)
class ToolSupport:
    """What an engine does with tools by itself."""

    reads: bool = False
    """The model is shown the tools, and its calls are found in what it says."""
    forces: bool = False
    """An answer is made a call of a tool where the caller demands one."""
    why_unread: str = "the model's chat template knows no tools"


def tool_wish(body: dict[str, Any]) -> str:
    """@raise BadCall"""
    tools, choice = body.get("tools"), body.get("tool_choice")
    if tools is None or tools == []:
        if choice not in (None, NONE, AUTO):
            raise BadCall("tool_choice demands a call, and there are no tools", "tool_choice")
        return ABSENT
    if not isinstance(tools, list) or not all(isinstance(tool, dict) and isinstance(tool.get("function"), dict) for tool in tools):
        raise BadCall("tools is no list of functions", "tools")
    if choice is None:
        return AUTO
    if choice in (NONE, AUTO, REQUIRED):
        return choice
    if isinstance(choice, dict):
        return NAMED
    raise BadCall("tool_choice is none of none, auto, required and a function", "tool_choice")


def tool_action(wish: str, support: ToolSupport) -> str:
    if wish == ABSENT:
        return PASS
    if wish == NONE:
        return PASS if support.reads else DROP
    if wish == AUTO:
        return PASS if support.reads else REFUSE
    return PASS if support.forces else FORCE


def without_tools(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in ("tools", "tool_choice", "parallel_tool_calls")}


@dataclass(frozen=True)
class ForcedCall:
    body: dict[str, Any]
    """For the engine: no tools, a schema in their place."""
    finish_reason: str
    """In place of the engine's `stop`."""


# What stops a text, or is told of its tokens.
_OF_TEXT = ("stop", "logprobs", "top_logprobs")


def forced_call(body: dict[str, Any]) -> ForcedCall:
    """
    Of a chat that demands a call of one of its tools.

    @raise BadCall
    """
    functions = [tool["function"] for tool in body["tools"]]
    choice = body["tool_choice"]
    if isinstance(choice, dict):
        name = choice["function"].get("name") if isinstance(choice.get("function"), dict) else None
        functions = [function for function in functions if function.get("name") == name]
        if not functions:
            raise BadCall(f"tool_choice names {name!r}, which is none of the tools", "tool_choice")
    try:
        schema = _union(functions)
    except RecursionError as error:
        raise BadCall("the parameters of a tool nest too deep", "tools") from error
    for name in _OF_TEXT:
        if body.get(name) not in (None, False, []):
            raise BadCall(f"a call that is demanded is made by a schema here, and {name} has no part in it: send the call without it", name, "unsupported_by_model")
    # The form of a text is none of a call's: that is its function's.
    kept = {name: value for name, value in without_tools(body).items() if name not in ("response_format", *_OF_TEXT)}
    kept["messages"] = _told(body.get("messages"), functions)
    kept["response_format"] = {"type": "json_schema", "json_schema": {"name": "call", "schema": schema}}
    # As OpenAI's API and vLLM say it: of a function that the caller named the call is no choice of the model's.
    return ForcedCall(kept, "stop" if isinstance(choice, dict) else "tool_calls")


def _union(functions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    parameters = {f"f{at}": _rooted(_parameters(function), f"#/$defs/f{at}") for at, function in enumerate(functions)}
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": function.get("name")}, "arguments": {"$ref": f"#/$defs/f{at}"}},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for at, function in enumerate(functions)
    ]
    return {"$defs": parameters, **(calls[0] if len(calls) == 1 else {"anyOf": calls})}


def _parameters(function: dict[str, Any]) -> dict[str, Any]:
    said = function.get("parameters")
    if said is None or said == {}:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    if not isinstance(said, dict) or said.get("type", "object") != "object":
        raise BadCall(f"the parameters of {function.get('name')!r} are no schema of an object", "tools")
    return {"type": "object", **said}


# Under these a schema has values, and under those names of its own: a property may be called `$ref`.
_VALUES = ("const", "enum", "default", "examples", "example")
_NAMES = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def _rooted(schema: Any, at: str) -> Any:
    """A schema that was a whole document, as a part of another one: its references point into it."""
    if isinstance(schema, list):
        return [_rooted(one, at) for one in schema]
    if not isinstance(schema, dict):
        return schema
    moved: dict[str, Any] = {}
    for name, value in schema.items():
        if name == "$ref" and isinstance(value, str):
            if value != "#" and not value.startswith("#/"):
                raise BadCall("a $ref in the parameters of a tool leads out of them", "tools")
            moved[name] = at + value[1:]
        elif name in _VALUES:
            moved[name] = value
        elif name in _NAMES and isinstance(value, dict):
            moved[name] = {one: _rooted(part, at) for one, part in value.items()}
        else:
            moved[name] = _rooted(value, at)
    return moved


_TOLD = (
    "You answer by calling one of the functions below, whose parameters are JSON schemas. "
    'Your whole answer is one JSON object: {"name": the function\'s name, "arguments": an object that fits its parameters}.\n'
)


def _told(messages: Any, functions: Sequence[dict[str, Any]]) -> list[Any]:
    """The functions in words, for any chat template: in the system's message, or in one before all others."""
    said = [message for message in messages if isinstance(message, dict)] if isinstance(messages, list) else []
    words = _TOLD + "\n".join(json.dumps(function, ensure_ascii=False) for function in functions)
    first = said[0] if said else {}
    content = first.get("content")
    if first.get("role") in ("system", "developer") and isinstance(content, str):
        return [{**first, "content": f"{content}\n\n{words}"}, *said[1:]]
    return [{"role": "system", "content": words}, *said]


def in_words(messages: Any) -> Any:
    """Earlier calls and their results, for a chat template that knows neither: it would leave them out, or fail over them."""
    return [_in_words(message) if isinstance(message, dict) else message for message in messages] if isinstance(messages, list) else messages


def _in_words(message: dict[str, Any]) -> dict[str, Any]:
    role, calls = message.get("role"), message.get("tool_calls")
    if role == "assistant" and isinstance(calls, list) and calls:
        said = [call["function"] for call in calls if isinstance(call, dict) and isinstance(call.get("function"), dict)]
        words = [json.dumps({"name": one.get("name"), "arguments": one.get("arguments")}, ensure_ascii=False) for one in said]
        content = message.get("content")
        return {"role": "assistant", "content": "\n".join([*([content] if isinstance(content, str) and content else []), *words])}
    if role == "tool":
        content = message.get("content")
        words = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        return {"role": "user", "content": f"The function answered: {words}"}
    return message


# The schema fixes the order of both.
_HEAD = re.compile(r'\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:\s*(?=\{)')


@dataclass
class CallText:
    """Reads a forced answer that comes in pieces."""

    name: Optional[str] = None
    _head: str = ""
    _depth: int = 0
    _is_in_string: bool = False
    _is_escaped: bool = False
    _is_over: bool = False

    def push(self, text: str) -> str:
        """What the piece adds to the arguments."""
        if self.name is None:
            self._head += text
            found = _HEAD.match(self._head)
            if found is None:
                return ""
            self.name = json.loads(found.group(1))
            text = self._head[found.end() :]
        return "".join(character for character in text if self._takes(character))

    def _takes(self, character: str) -> bool:
        if self._is_over:
            return False
        if self._is_in_string:
            if self._is_escaped:
                self._is_escaped = False
            elif character == "\\":
                self._is_escaped = True
            elif character == '"':
                self._is_in_string = False
        elif character == '"':
            self._is_in_string = True
        elif character in "{[":
            self._depth += 1
        elif character in "}]":
            self._depth -= 1
            self._is_over = self._depth == 0
        return True


@dataclass
class ForcedAnswer:
    """One choice of a forced answer, whole or in pieces, as a call of a tool."""

    finish_reason: str
    _text: CallText = field(default_factory=CallText)
    _id: str = field(default_factory=lambda: f"call_{uuid.uuid4().hex[:24]}")

    def whole(self, choice: dict[str, Any]) -> dict[str, Any]:
        message = dict(choice.get("message") or {})
        arguments = self._text.push(message.get("content") or "")
        message["content"] = None
        if self._text.name is not None:
            message["tool_calls"] = [{"id": self._id, "type": "function", "function": {"name": self._text.name, "arguments": arguments}}]
        return {**choice, "message": message, "finish_reason": self._finish(choice)}

    def piece(self, choice: dict[str, Any]) -> Optional[dict[str, Any]]:
        """Of a stream; null where the piece says nothing that goes on."""
        delta = dict(choice.get("delta") or {})
        content = delta.pop("content", None)
        was_named = self._text.name is not None
        arguments = self._text.push(content or "")
        if self._text.name is not None and content:
            function = {"arguments": arguments} if was_named else {"name": self._text.name, "arguments": arguments}
            call = {"index": 0, "function": function} if was_named else {"index": 0, "id": self._id, "type": "function", "function": function}
            delta["tool_calls"] = [call]
        if "role" in delta:
            delta["content"] = None
        finish = self._finish(choice)
        return {**choice, "delta": delta, "finish_reason": finish} if delta or finish is not None else None

    def _finish(self, choice: dict[str, Any]) -> Any:
        said = choice.get("finish_reason")
        return self.finish_reason if said == "stop" else said
