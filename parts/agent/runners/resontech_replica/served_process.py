"""A process with a model, as it is attended: its word, its end, its sleep."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional

from resontech_runner.memory_limit import oom_kills
from resontech_runner.process_end import end_in_words

from .activity import activity_of
from .attend import ReplicaEnd
from .call_progress import CallProgress
from .standing import IS_WELL, Judgement, RanAt

_PACKAGES = Path(__file__).resolve().parents[1]
_MAX_LINE_BYTES = 64 * 1024
# It gives its calls five seconds.
_STOP_S = 6.0
_PROGRAM = "import sys, pathlib; sys.path.insert(0, sys.argv[1]); import importlib; sys.exit(importlib.import_module(sys.argv[2]).main(pathlib.Path(sys.argv[3]), int(sys.argv[4])))"


class ServedProcess:
    def __init__(self, module: str, root: Path, call_limit_s: float, environment: Mapping[str, str] = {}):
        """@param module: whose `main(root, told)` serves, see served.py"""
        self._kills = oom_kills()
        self._heard, told = os.pipe()
        os.set_blocking(self._heard, False)
        # A session of its own: the container's stop is ours to pass on, and what it starts sleeps with it.
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-c", _PROGRAM, str(_PACKAGES), module, str(root), str(told)],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            pass_fds=[told],
            start_new_session=True,
        )
        os.close(told)
        self._rest = b""
        self._failed: Optional[dict[str, Any]] = None
        self._progress = CallProgress(call_limit_s, 0.0)
        self._ran = RanAt(0.0)
        self.is_ready = False

    def end(self) -> Optional[ReplicaEnd]:
        code = self._process.poll()
        if code is None:
            return None
        self._hear(0.0)
        if oom_kills() > self._kills:
            return ReplicaEnd("out_of_memory", "the process of the model was killed: the memory limit of the container was reached", "")
        if self._failed is not None:
            return ReplicaEnd(*(_text(self._failed.get(name)) for name in ("reason", "message", "detail")))
        return ReplicaEnd("payload_exited", f"the process of the model {end_in_words(code)}", "")

    def look(self, now: float) -> None:
        """Hears what it has said since."""
        self._hear(now)

    def judge(self, now: float) -> Judgement:
        self._hear(now)
        activity = activity_of(self._process.pid)
        if activity is None:
            return IS_WELL
        return self._progress.judge(now, self._ran.see(now, activity.ticks, activity.is_busy))

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self, now: float) -> None:
        self._hear(now)
        self._progress.reset(now)
        self._ran = RanAt(now)
        self._signal(signal.SIGCONT)

    def is_awake(self) -> bool:
        return self._progress.beats > 0

    def stop(self) -> None:
        """What is under way may end."""
        self._process.terminate()
        self._signal(signal.SIGCONT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_S)
        self.kill()

    def kill(self) -> None:
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: int) -> None:
        """To all that it has started, too."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _hear(self, now: float) -> None:
        for line in self._lines():
            kind = line.get("kind")
            if kind == "ready":
                self.is_ready = True
                self._progress.reset(now)
            elif kind == "beat":
                self._progress.hear(now, line)
            elif kind == "failed":
                self._failed = line

    def _lines(self) -> Iterator[dict[str, Any]]:
        """The user's code could write here too: what is no line of ours is passed over."""
        # A pipe holds so much: one that is always full would never let go.
        try:
            read = os.read(self._heard, _MAX_LINE_BYTES)
        except BlockingIOError:
            return
        *lines, self._rest = (self._rest + read).split(b"\n")
        self._rest = self._rest[-_MAX_LINE_BYTES:]
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError):
                said = json.loads(line)
                if isinstance(said, dict):
                    yield said


def _text(said: Any) -> str:
    return said if isinstance(said, str) else ""
