"""Composition: the spec, the signals, one member."""

import asyncio
import contextlib
import os
import signal
import sys
import traceback

from resontech_runner.events import LineLog, is_disk_full
from resontech_runner.exit_code import FAILED

from .layout import Layout
from .meeting import Meeting
from .spec import read_spec
from .worker import Worker


def main(layout: Layout = Layout()) -> int:
    # Files of one member are nobody else's.
    os.umask(0o077)
    try:
        # Connections that are still led end with the process: a loop that is closed would cancel each with a word in the log.
        code = asyncio.new_event_loop().run_until_complete(_member(layout))
    except Exception as error:
        _tell_breakdown(layout, error)
        code = FAILED
    # Threads that read for a connection would hold the interpreter; everything of ours is written.
    sys.stdout.flush()
    os._exit(code)


async def _member(layout: Layout) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    spec = read_spec(layout.spec)
    member = Meeting(spec, layout, stop) if spec.index is None else Worker(spec, layout, stop)
    return await member.run()


def _tell_breakdown(layout: Layout, error: Exception) -> None:
    text = traceback.format_exc()
    reason, message = ("disk_limit", "the disk of this member is full") if is_disk_full(error) else ("federation_failed", "the runner broke")
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)
        layout.events.with_name("reserve").unlink(missing_ok=True)
        LineLog(layout.events).append("failed", reason=reason, message=message, detail=text[-4096:])
