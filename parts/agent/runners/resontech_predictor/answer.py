"""Pure: what a predictor returned, as JSON."""

import json
from typing import Any


class BadAnswer(Exception):
    """What the predictor returned is no answer; the text is for the caller."""


def answer_bytes(returned: Any, most: int) -> bytes:
    """
    @param most: bytes of an answer
    @raise BadAnswer
    """
    if not isinstance(returned, dict):
        raise BadAnswer(f"predict returned {type(returned).__name__}, not dict")
    return json_bytes(returned, most)


def json_bytes(returned: Any, most: int) -> bytes:
    """@raise BadAnswer"""
    _require_short(returned, most)
    size = 0
    parts = []
    try:
        # Piece by piece: an answer that is too long is never there as a whole.
        for piece in json.JSONEncoder(default=_plain, allow_nan=False, separators=(",", ":")).iterencode(returned):
            encoded = piece.encode("utf-8")
            size += len(encoded)
            if size > most:
                raise BadAnswer(f"predict returned more than {most} bytes of JSON")
            parts.append(encoded)
    except (TypeError, ValueError, RecursionError, UnicodeEncodeError) as error:
        raise BadAnswer(f"predict returned what is no JSON: {error}") from error
    return b"".join(parts)


def _require_short(returned: Any, most: int) -> None:
    """One text is encoded as a whole, several times over: what is too long is never begun."""
    left = [returned]
    # What holds itself, or the same thing many times, is looked at once.
    seen: set[int] = set()
    while left:
        one = left.pop()
        if isinstance(one, str):
            if len(one) > most:
                raise BadAnswer(f"predict returned more than {most} bytes of JSON")
        elif isinstance(one, (dict, list, tuple)) and id(one) not in seen:
            seen.add(id(one))
            values = one.values() if isinstance(one, dict) else one
            left.extend(value for value in values if isinstance(value, (str, dict, list, tuple)))


def _plain(value: Any) -> Any:
    """Scalars and arrays of numpy and torch say themselves what they are in Python."""
    for name in ("tolist", "item"):
        plain = getattr(value, name, None)
        if callable(plain):
            return plain()
    raise TypeError(f"{type(value).__name__} is not JSON")
