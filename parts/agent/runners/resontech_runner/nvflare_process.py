"""One NVFlare parent process and its job processes: started, followed line by line, stopped together."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import BinaryIO, Callable, Optional

_LAST_LINES = 60
_LINE_CHARS = 500


class NvflareProcess:
    """Starts a module of NVFlare in a session of its own, so that a stop reaches the job processes too.

    Each line of output goes to our standard output (the member's log), to `copy_to` and to `on_line`.
    """

    def __init__(
        self,
        module: str,
        arguments: list[str],
        environment: dict[str, str],
        cwd: Path,
        on_line: Callable[[str], None],
        copy_to: Optional[BinaryIO] = None,
    ):
        self._on_line = on_line
        self._copy_to = copy_to
        self._last: deque[str] = deque(maxlen=_LAST_LINES)
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=cwd,
            start_new_session=True,
        )
        self._pump = threading.Thread(target=self._follow, name="nvflare-output", daemon=True)
        self._pump.start()

    def _follow(self) -> None:
        assert self._process.stdout is not None
        for line in iter(self._process.stdout.readline, b""):
            # Whatever becomes of a copy, the pipe is emptied: NVFlare would stand still on a full one.
            with contextlib.suppress(OSError):
                os.write(1, line)
                if self._copy_to is not None:
                    self._copy_to.write(line)
            text = line.decode("utf-8", "replace")
            self._last.append(text.rstrip()[:_LINE_CHARS])
            self._on_line(text)

    def last_lines(self) -> str:
        """What it and its job processes said last."""
        return "\n".join(list(self._last))

    def exit_code(self) -> Optional[int]:
        return self._process.poll()

    def ask_jobs_to_end(self, grace_s: float) -> None:
        """SIGTERM to the job processes and theirs, which NVFlare puts into sessions of their own; returns when they ended, or after `grace_s`."""
        jobs = _descendants(self._process.pid)
        for pid in jobs:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + grace_s
        while any(map(_is_running, jobs)) and time.monotonic() < deadline:
            time.sleep(0.02)

    def stop(self, grace_s: float) -> None:
        """SIGTERM to all, SIGKILL to who is left after `grace_s`; returns when their output has been read."""
        self._signal(signal.SIGTERM)
        deadline = time.monotonic() + grace_s
        while self._alive() and time.monotonic() < deadline:
            time.sleep(0.02)
        self._signal(signal.SIGKILL)
        self._process.wait()
        # A process that left the session could hold the pipe open: don't wait for it.
        self._pump.join(timeout=1)

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            pass

    def _alive(self) -> bool:
        self._process.poll()
        try:
            os.killpg(self._process.pid, 0)
        except ProcessLookupError:
            return False
        return True


def _descendants(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        # Processes come and go meanwhile.
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text().split()):
                found += [child, *_descendants(child)]
    return found


def _is_running(pid: int) -> bool:
    """A zombie waits for its parent alone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat[stat.rindex(")") + 2] != "Z"
