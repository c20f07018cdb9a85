"""Which of several members that broke is to blame. One that ends takes its peers along within a second: their exceptions say only that. Pure."""

import re
from dataclasses import dataclass
from typing import Any, Optional

_HOW = ("killed", "raised", "lost", "parted")
"""The order in which they are believed: a rank that was ended from outside, an exception of the script's own, a member that is not heard, the loss of another."""

PARTED = re.compile(
    r"^[\w.]*(?:RuntimeError|ConnectionError|ConnectionResetError|BrokenPipeError|Dist\w*Error|TimeoutError)\b.*"
    r"(?:closed by peer|reset by peer|[Bb]roken pipe|[Gg]loo|NCCL|[Ss]tore|[Tt]imed? ?out|[Rr]endezvous|process group|[Ss]ocket)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Break:
    index: int
    how: str
    reason: str
    message: str
    detail: Optional[str] = None


def is_parted(raised: str) -> bool:
    """Whether an exception says that another rank was lost."""
    return PARTED.match(raised) is not None


def blamed(breaks: list[Break]) -> Break:
    """@param breaks: in the order in which they were heard, at least one"""
    return min(breaks, key=lambda one: _HOW.index(one.how))


def break_of(index: int, said: dict[str, Any]) -> Break:
    how = said.get("how")
    detail = said.get("detail")
    return Break(
        index,
        how if how in _HOW else "parted",
        str(said.get("reason", "payload_exited")),
        str(said.get("message", "")),
        detail if isinstance(detail, str) else None,
    )
