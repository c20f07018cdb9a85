"""torchrun and its ranks: started in a session of their own, followed line by line, ended together."""

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections import deque
from typing import Optional

from resontech_runner.log_lines import TracebackCollector

from .layout import Layout
from .spec import DistributedSpec

_LAST_LINES = 80
_LINE_CHARS = 500
_BLOCK = 64 * 1024
_REST_S = 1.0
# "E1130 22:50:59.710000 28358 torch/distributed/…", "[W1130 22:46:24.631747153 socket.cpp:207] …"
_LOG_LINE = re.compile(r"^\[?[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ ")


def command_of(spec: DistributedSpec) -> list[str]:
    master = spec.ports.of(0)[0]
    return [
        *(sys.executable, "-u", "-m", "torch.distributed.run"),
        *(f"--nnodes={spec.members}", f"--nproc-per-node={spec.ranks_each}", f"--node-rank={spec.index}"),
        *("--master-addr=127.0.0.1", f"--master-port={master}"),
        # The kernel alone starts anything again: from the last commit, under a new fence.
        "--max-restarts=0",
        *(spec.script, *spec.arguments),
    ]


def environment_of(layout: Layout, threads: int) -> dict[str, str]:
    environment = {
        **os.environ,
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "PYTHONUNBUFFERED": "1",
        "RESONTECH_INPUT_DIR": "/app/payload",
        "RESONTECH_OUT_DIR": str(layout.out),
        "RESONTECH_CHECKPOINT_DIR": str(layout.checkpoints),
        # All ranks know one another at the loopback interface; their ports say whose they are.
        "GLOO_SOCKET_IFNAME": "lo",
        "NCCL_SOCKET_IFNAME": "lo",
        # Else the store of a master is shared with its rank 0, and is gone before the others have ended.
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
    }
    environment.setdefault("OMP_NUM_THREADS", str(threads))
    return environment


class Launch:
    def __init__(self) -> None:
        self.tracebacks = TracebackCollector()
        self._last: deque[str] = deque(maxlen=_LAST_LINES)
        self._process: Optional[asyncio.subprocess.Process] = None
        self._rest = b""

    async def run(self, command: list[str], environment: dict[str, str]) -> int:
        """@returns torchrun's exit code"""
        self._process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=environment,
            cwd="/tmp",
            start_new_session=True,
        )
        assert self._process.stdout is not None
        following = asyncio.create_task(self._follow(self._process.stdout))
        code = await self._process.wait()
        # A process that left the session could hold the pipe open: don't wait for it.
        await asyncio.wait({following}, timeout=_REST_S)
        following.cancel()
        return code

    async def _follow(self, output: asyncio.StreamReader) -> None:
        while block := await output.read(_BLOCK):
            # Whatever becomes of it, the pipe is emptied: ranks would stand still on a full one.
            with contextlib.suppress(OSError):
                os.write(1, block)
            self._take(block)
        if self._rest:
            self._line(self._rest)

    @property
    def tail(self) -> str:
        return "\n".join(self._last)

    async def end(self, grace_s: float) -> None:
        """SIGTERM to all, SIGKILL to who is left after `grace_s`."""
        if self._process is None:
            return
        self._signal(signal.SIGTERM)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._process.wait(), grace_s)
        # torchrun puts each rank into a session of its own, which ends with it; a launcher that was killed leaves them to PID 1.
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _take(self, block: bytes) -> None:
        *lines, self._rest = (self._rest + block).split(b"\n")
        for line in lines:
            self._line(line)
        # A line without an end is no memory of ours to fill.
        self._rest = self._rest[-_BLOCK:]

    def _line(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        self._last.append(text.rstrip()[:_LINE_CHARS])
        # A line of torchrun's own log ends the message of an exception, and is no part of it.
        self.tracebacks.feed("" if _LOG_LINE.match(text) else _without_rank(text))


def _without_rank(line: str) -> str:
    # torch names its rank before a traceback of its hook: "[rank1]: Traceback …".
    if line.startswith("[rank"):
        _, found, rest = line.partition("]: ")
        return rest if found else line.partition("]:")[2]
    return line
