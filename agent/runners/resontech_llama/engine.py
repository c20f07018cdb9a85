"""The engine's process: started, asked, ended."""

import collections
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Optional

from resontech_replica.attend import ReplicaEnd
from resontech_runner.environment import cpu_quota
from resontech_runner.memory_limit import oom_kills

from .engine_end import engine_end
from .spec import LlamaSpec

_PACKAGES = Path(__file__).resolve().parents[1]
_KEPT_LINES = 40
# An engine that says nothing for longer is not waited for; the gateway's own limit is a little lower.
_SILENT_S = 630


class EngineConnection(http.client.HTTPConnection):
    """Over the engine's Unix socket."""

    def __init__(self, path: str):
        super().__init__("engine", timeout=_SILENT_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_SILENT_S)
        self.sock.connect(self._path)


class Engine:
    def __init__(self, spec: LlamaSpec):
        self._spec = spec
        self._folder = tempfile.mkdtemp(prefix="engine-")
        self._socket = str(Path(self._folder, "engine.sock"))
        self._said: collections.deque[str] = collections.deque(maxlen=_KEPT_LINES)
        self._loaded = threading.Event()
        self._relay_done = threading.Event()
        self._kills = oom_kills()
        loaded, told = os.pipe()
        # A session of its own: the container's stop is this program's to pass on.
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-m", "resontech_llama.engine_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[told],
            env={**os.environ, "PYTHONPATH": str(_PACKAGES)},
            start_new_session=True,
        )
        os.close(told)
        threading.Thread(target=self._relay, name="engine-says", daemon=True).start()
        threading.Thread(target=self._hear, args=(loaded,), name="engine-loads", daemon=True).start()
        self._ask_to_load(told)

    def wait_loaded(self, timeout: float) -> bool:
        return self._loaded.wait(timeout)

    def end(self, within_s: float = 0) -> Optional[ReplicaEnd]:
        """Null where it runs on."""
        try:
            code = self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return None
        self._relay_done.wait(1)
        return engine_end(code, self._loaded.is_set(), oom_kills() > self._kills, list(self._said))

    @property
    def pid(self) -> int:
        return self._process.pid

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def connect(self) -> EngineConnection:
        """@raise OSError where the engine does not listen"""
        connection = EngineConnection(self._socket)
        connection.connect()
        return connection

    def ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """
        One call to its end.

        @raise OSError, http.client.HTTPException, ValueError
        """
        connection = self.connect()
        try:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def get(self, path: str) -> bytes:
        """@raise OSError, http.client.HTTPException"""
        connection = self.connect()
        try:
            connection.request("GET", path)
            return connection.getresponse().read()
        finally:
            connection.close()

    def _ask_to_load(self, told: int) -> None:
        spec = self._spec
        said = {
            "name": spec.name,
            "modelPath": str(spec.model_path),
            "socket": self._socket,
            "slots": spec.slots,
            "contextTokens": spec.context_tokens,
            "embeds": spec.embeds,
            "pooling": spec.pooling,
            "threads": cpu_quota(),
            "loadedFd": told,
        }
        try:
            self._process.stdin.write(json.dumps(said).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            """It ended at once, and says why."""

    def _relay(self) -> None:
        for line in self._process.stdout:
            text = line.decode("utf-8", "replace").rstrip("\n")
            self._said.append(text[:1000])
            print(text, flush=True)
        self._relay_done.set()

    def _hear(self, loaded: int) -> None:
        with open(loaded, "rb") as pipe:
            if pipe.read() != b"":
                self._loaded.set()
