"""An engine's process: started, asked, ended."""

import collections
import contextlib
import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

from resontech_runner.memory_limit import oom_kills

from .activity import Activity, activity_of_session
from .attend import ReplicaEnd
from .engine_end import EndWords, engine_end

# As a file, without anything that is not the interpreter's own: it takes 10 ms.
_STARTER = ["-I", "-S", str(Path(__file__).with_name("die_with_parent.py"))]
# The cause may stand far above the last line: each process of an engine tells of the end of another.
_KEPT_LINES = 400
# An engine that says nothing for longer is not waited for; the gateway's own limit is a little lower.
_SILENT_S = 630
_LOOK_S = 0.02
# What an engine wrote before its end lies in the pipe, however late this program comes to read it; one that it started may hold the pipe open.
_LAST_WORDS_S = 30
# Of one that loads: it may take a connection, and answer nobody.
_HEALTH_S = 1
_HEALTHY = 200


@dataclass(frozen=True)
class EngineProgram:
    """How an engine is started. It serves on `socket`, and `/health` says 200 there once it has its model."""

    command: Sequence[str]
    """The executable by its whole path, then its arguments: whoever can list processes reads them."""
    environment: Mapping[str, str]
    """Beside this program's own."""
    socket: Path
    words: EndWords
    told: Optional[dict[str, Any]] = None
    """A line of JSON on its standard input; null: that is closed."""


class EngineConnection(http.client.HTTPConnection):
    """Over the engine's Unix socket."""

    def __init__(self, path: Path, silent_s: float):
        super().__init__("engine", timeout=silent_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def engine_socket() -> Path:
    """In a folder of its own, which lets in this user alone."""
    return Path(tempfile.mkdtemp(prefix="engine-"), "engine.sock")


class Engine:
    def __init__(self, program: EngineProgram):
        self._program = program
        self._said: collections.deque[str] = collections.deque(maxlen=_KEPT_LINES)
        self._is_loaded = False
        self._relay_done = threading.Event()
        self._kills = oom_kills()
        # A session of its own: the container's stop is this program's to pass on, and what it starts stops and goes on with it.
        self._process = subprocess.Popen(
            [sys.executable, *_STARTER, str(os.getpid()), *program.command],
            stdin=subprocess.DEVNULL if program.told is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **program.environment},
            start_new_session=True,
        )
        threading.Thread(target=self._relay, name="engine-says", daemon=True).start()
        self._tell()

    def wait_loaded(self, timeout: float) -> bool:
        end = time.monotonic() + timeout
        while not self._is_loaded and time.monotonic() < end:
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._is_loaded = self._health() == _HEALTHY
            if not self._is_loaded:
                time.sleep(_LOOK_S)
        return self._is_loaded

    def end(self, within_s: float = 0) -> Optional[ReplicaEnd]:
        """Null where it runs on."""
        try:
            code = self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return None
        self._read_last_words()
        return engine_end(self._program.words, code, self._is_loaded, oom_kills() > self._kills, list(self._said))

    def _read_last_words(self) -> None:
        latest = time.monotonic() + _LAST_WORDS_S
        # At the end of the pipe it can be read, too, until the thread has seen it.
        while not self._relay_done.wait(1) and time.monotonic() < latest and select.select([self._process.stdout], [], [], 0)[0]:
            pass

    def activity(self) -> Optional[Activity]:
        """Of all of its processes; null where there is none any more."""
        return activity_of_session(self._process.pid)

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)
        self._process.wait()

    def connect(self, silent_s: float = _SILENT_S) -> EngineConnection:
        """@raise OSError where the engine does not listen"""
        connection = EngineConnection(self._program.socket, silent_s)
        connection.connect()
        return connection

    def ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """
        One call to its end.

        @raise OSError, http.client.HTTPException, ValueError
        """
        with contextlib.closing(self.connect()) as connection:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            return json.loads(connection.getresponse().read())

    def get(self, path: str) -> bytes:
        """@raise OSError, http.client.HTTPException"""
        with contextlib.closing(self.connect()) as connection:
            connection.request("GET", path)
            return connection.getresponse().read()

    def _health(self) -> int:
        with contextlib.closing(self.connect(_HEALTH_S)) as connection:
            connection.request("GET", "/health")
            with connection.getresponse() as answer:
                return answer.status

    def _tell(self) -> None:
        if self._process.stdin is None:
            return
        # It may have ended at once, and says why.
        with contextlib.suppress(BrokenPipeError), self._process.stdin:
            self._process.stdin.write(json.dumps(self._program.told).encode() + b"\n")

    def _signal(self, number: int) -> None:
        """To all that it has started, too."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _relay(self) -> None:
        for line in self._process.stdout:
            text = line.decode("utf-8", "replace").rstrip("\n")
            self._said.append(text[:1000])
            print(text, flush=True)
        self._relay_done.set()
