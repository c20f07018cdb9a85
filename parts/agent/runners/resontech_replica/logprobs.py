"""
Pure: probabilities of tokens in the forms of OpenAI's API, out of those that llama.cpp tells.

It tells `{"content": […]}` for chats and completions alike, twenty others a token where a chat does not say how many, and nothing at all where none
are asked for.
"""

from dataclasses import dataclass
from typing import Any, Optional

_CHAT = "/v1/chat/completions"


@dataclass(frozen=True)
class LogprobsWish:
    is_chat: bool
    others: int
    """Of each token, as the caller asks: none is one way of asking."""

    def asked(self, body: dict[str, Any]) -> dict[str, Any]:
        """The engine tells of a token where it is asked for one at least."""
        most = max(1, self.others)
        return {**body, "logprobs": True, "top_logprobs": most} if self.is_chat else {**body, "logprobs": most}


def logprobs_wish(path: str, body: dict[str, Any]) -> Optional[LogprobsWish]:
    """Null where no probabilities are asked for."""
    said = body.get("logprobs")
    if path == _CHAT:
        return LogprobsWish(True, body.get("top_logprobs") or 0) if said is True else None
    return None if said is None else LogprobsWish(False, int(said))


@dataclass
class LogprobsForm:
    """One choice's probabilities, whole or piece by piece."""

    wish: LogprobsWish
    _offset: int = 0
    """In the choice's text, characters."""

    def told(self, choice: dict[str, Any]) -> dict[str, Any]:
        said = choice.get("logprobs")
        tokens = said.get("content") if isinstance(said, dict) else None
        if not isinstance(tokens, list):
            return choice
        return {**choice, "logprobs": {"content": [self._few(one) for one in tokens], "refusal": None} if self.wish.is_chat else self._older(tokens)}

    def _few(self, token: dict[str, Any]) -> dict[str, Any]:
        return {**_plain(token), "top_logprobs": [_plain(one) for one in token.get("top_logprobs", [])[: self.wish.others]]}

    def _older(self, tokens: list[dict[str, Any]]) -> dict[str, Any]:
        offsets = []
        for token in tokens:
            offsets.append(self._offset)
            self._offset += len(token["token"])
        return {
            "tokens": [_name(token) for token in tokens],
            "token_logprobs": [token["logprob"] for token in tokens],
            # The token itself is among them, as likely as it was.
            "top_logprobs": [{**{_name(one): one["logprob"] for one in token.get("top_logprobs", [])[: self.wish.others]}, _name(token): token["logprob"]} for token in tokens],
            "text_offset": offsets,
        }


def _plain(token: dict[str, Any]) -> dict[str, Any]:
    return {name: token[name] for name in ("token", "logprob", "bytes") if name in token}


def _name(token: dict[str, Any]) -> str:
    """A part of a character is none by itself: OpenAI's API names its bytes."""
    text, raw = token["token"], token.get("bytes") or []
    return text if bytes(raw) == text.encode("utf-8", "replace") else "bytes:" + "".join(f"\\x{byte:02x}" for byte in raw)
