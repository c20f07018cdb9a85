"""Pure: what of a request reaches the engine."""

import json
from typing import Optional

GETS = {"/health": "/health", "/v1/models": "/v1/models"}
"""Asked without a body; the engine's own paths by ours."""


class BadCall(Exception):
    """The request is none that the engine may see; the text is for the caller."""


def fields_of(path: str, allowed: dict[str, frozenset[str]]) -> Optional[frozenset[str]]:
    """The fields that a body may have; null where the path leads nowhere. Nothing in the path is decoded."""
    return allowed.get(path)


def engine_body(raw: bytes, fields: frozenset[str]) -> bytes:
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
    return json.dumps({name: value for name, value in said.items() if name in fields}).encode()
