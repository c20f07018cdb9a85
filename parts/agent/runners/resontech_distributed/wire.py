"""
What members say to the meeting point. Each connection begins with one line of JSON; then it is a conversation in lines (`join`), a file
(`checkpoint`, `resume`), or bytes of a connection between two ranks (`call`, `answer`).
"""

import asyncio
import contextlib
import json
import socket
from typing import Any, Optional

YES = b"\x01"
"""The answer to a call that was led through, and to a file that was taken whole."""

BLOCK = 256 * 1024
_LINE_LIMIT = 64 * 1024


def line_of(kind: str, **fields: Any) -> bytes:
    return json.dumps({"kind": kind, **fields}, separators=(",", ":")).encode() + b"\n"


async def read_line(reader: asyncio.StreamReader) -> Optional[dict[str, Any]]:
    """None at the end of the connection, and for what is no line of ours: the job's own code could dial as well."""
    try:
        line = await reader.readline()
        said = json.loads(line) if line.endswith(b"\n") else None
    except (OSError, ValueError):
        return None
    return said if isinstance(said, dict) and isinstance(said.get("kind"), str) else None


async def dial(host: str, port: int, first: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(host, port, limit=_LINE_LIMIT)
    without_delay(writer)
    writer.write(first)
    await writer.drain()
    return reader, writer


def without_delay(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


Side = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def splice(one: Side, other: Side) -> None:
    """Copies both ways, an end as an end, until both have ended; whatever breaks ends both."""
    copies = [asyncio.create_task(_copy(one[0], other[1])), asyncio.create_task(_copy(other[0], one[1]))]
    try:
        await asyncio.gather(*copies)
    except OSError:
        pass
    finally:
        for copy in copies:
            copy.cancel()
        break_off(one[1])
        break_off(other[1])


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while block := await reader.read(BLOCK):
        writer.write(block)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


def break_off(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, RuntimeError):
        writer.close()
