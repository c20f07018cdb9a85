"""A client's container: NVFlare's client, until the server ends the run."""

import socket
import threading
import time
from pathlib import Path
from typing import Any, Optional

from .environment import job_environment
from .events import FailureReserve, LineLog, LineTail
from .exit_code import DONE, FAILED, STOP_GRACE_S, STOPPED
from .failure import Failure, failure_of
from .kit import render_client
from .layout import Layout
from .log_lines import TracebackCollector
from .memory_limit import oom_kills
from .nvflare_process import NvflareProcess
from .process_end import end_in_words
from .spec import RunnerSpec

_POLL_S = 0.05
_KILL_GRACE_S = 1.0
# After the job process broke, the server may still end the run in order: its word on the outcome is the better one.
_BROKEN_GRACE_S = 1.0


class ClientRun:
    def __init__(self, spec: RunnerSpec, layout: Layout, package_root: Path, stop: threading.Event):
        self._spec = spec
        self._layout = layout
        self._stop = stop
        self._package_root = package_root
        self._reserve = FailureReserve(layout.events)
        self._events = LineLog(layout.events)
        self._journal = LineTail(layout.journal)
        self._tracebacks = TracebackCollector()
        self._oom_before = oom_kills()
        self._has_begun = False
        # How the job process ended, where it has; `_left` what it left the run with, where it ended the run itself.
        self._has_exited = False
        self._exit_code: Optional[int] = None
        self._left: Optional[str] = None
        self._is_over = False

    def run(self) -> int:
        render_client(self._spec, self._layout)
        # NVFlare's client tries a server that does not answer only every few seconds: start it when there is one.
        if not self._await_server():
            return STOPPED
        client = self._start_client()
        try:
            self._events.append("ready")
            code = self._follow(client)
            if code == STOPPED:
                client.ask_jobs_to_end(STOP_GRACE_S)
            return code
        finally:
            client.stop(_KILL_GRACE_S)

    def _await_server(self) -> bool:
        while not self._stop.is_set():
            try:
                socket.create_connection((self._spec.server_name, self._spec.server_port), timeout=1).close()
                return True
            except OSError:
                self._stop.wait(_POLL_S)
        return False

    def _start_client(self) -> NvflareProcess:
        return NvflareProcess(
            "nvflare.private.fed.app.client.client_train",
            ["-m", str(self._layout.site_workspace), "-s", "fed_client.json", "--set", "secure_train=true"]
            + [f"uid={self._spec.site}", f"org={self._spec.org}", "config_folder=config"],
            job_environment(self._layout, self._package_root),
            cwd=self._layout.site_workspace,
            on_line=self._tracebacks.feed,
        )

    def _follow(self, client: NvflareProcess) -> int:
        while not self._stop.is_set():
            self._read_journal()
            if self._is_over:
                self._events.append("finished")
                return DONE
            if oom_kills() > self._oom_before:
                return self._fail(failure_of("", list(self._tracebacks.found), [], out_of_memory=True))
            if self._has_exited or self._left is not None or client.exit_code() is not None:
                return self._broken(client)
            self._stop.wait(_POLL_S)
        return STOPPED

    def _read_journal(self) -> None:
        for entry in self._journal.read():
            self._take(entry)

    def _take(self, entry: dict[str, Any]) -> None:
        if entry["kind"] == "run-started":
            self._has_begun = True
        elif entry["kind"] == "run-ended":
            if entry.get("byServer") is True:
                self._is_over = True
            else:
                self._left = str(entry.get("why", ""))
        elif entry["kind"] == "job-process-ended":
            code = entry.get("code")
            self._has_exited = True
            self._exit_code = code if isinstance(code, int) else None

    def _broken(self, client: NvflareProcess) -> int:
        deadline = time.monotonic() + _BROKEN_GRACE_S
        while time.monotonic() < deadline and not self._stop.is_set():
            self._read_journal()
            if self._is_over:
                self._events.append("finished")
                return DONE
            time.sleep(_POLL_S)
        if self._stop.is_set():
            return STOPPED
        found = list(self._tracebacks.found)
        if oom_kills() > self._oom_before:
            return self._fail(failure_of("", found, [], out_of_memory=True))
        if found:
            return self._fail(failure_of(self._end(client), found, [], has_begun=self._has_begun))
        return self._fail(Failure("payload_exited", self._end(client), client.last_lines() or None))

    def _end(self, client: NvflareProcess) -> str:
        site = self._spec.site
        if self._left:
            return f"{site}: its training process left the run: {self._left}"
        if self._has_exited:
            return f"{site}: its training process {end_in_words(self._exit_code)}"
        if client.exit_code() is not None:
            return f"{site}: NVFlare's client {end_in_words(client.exit_code())}"
        return f"{site}: its training process left the run"

    def _fail(self, failure: Failure) -> int:
        self._reserve.release()
        detail = {} if failure.detail is None else {"detail": failure.detail}
        self._events.append("failed", reason=failure.reason, message=failure.message, **detail)
        return FAILED
