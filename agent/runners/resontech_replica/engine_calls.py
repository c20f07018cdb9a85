"""Pure: what of a request reaches an engine, and what of its refusals comes back."""

import json
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Optional

GETS = {"/health": "/health", "/v1/models": "/v1/models"}
"""Asked without a body; the engine's own paths by ours."""


class BadCall(Exception):
    """The request is none that the engine may see; the text is for the caller."""


@dataclass(frozen=True)
class Refusal:
    type: str
    """As the gateway knows it: serving/src/openai/engine-refusal.ts."""
    message: str


@dataclass(frozen=True)
class Dialect:
    """How an engine's API differs from the one that the gateway speaks."""

    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Fields that every body has, whatever the caller says."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """The engine's name of a field by ours."""
    refusal: Optional[Callable[[int, bytes], Refusal]] = None
    """Of a status of 400 or more with its body; null where the gateway reads the engine's own words."""


def fields_of(path: str, allowed: Mapping[str, frozenset[str]]) -> Optional[frozenset[str]]:
    """The fields that a body may have; null where the path leads nowhere. Nothing in the path is decoded."""
    return allowed.get(path)


def engine_body(raw: bytes, fields: frozenset[str], dialect: Dialect = Dialect()) -> bytes:
    """
    The body anew, without the fields that an engine reads and a caller has no business with.

    @raise BadCall
    """
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadCall(f"the body is no JSON: {error}") from error
    if not isinstance(said, dict):
        raise BadCall("the body is no JSON object")
    passed = {dialect.renamed.get(name, name): value for name, value in said.items() if name in fields}
    return json.dumps({**passed, **dialect.fixed}).encode()
