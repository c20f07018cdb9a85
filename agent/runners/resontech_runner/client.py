"""A client's container: NVFlare's client, until the server ends the run."""

import re
import socket
import threading
import time
from pathlib import Path
from typing import Optional

from .environment import job_environment
from .events import FailureReserve, LineLog, LineTail
from .exit_code import DONE, FAILED, STOPPED
from .failure import Failure, failure_of
from .kit import render_client
from .layout import Layout
from .log_lines import TracebackCollector
from .memory_limit import oom_kills
from .nvflare_process import NvflareProcess
from .spec import RunnerSpec

_POLL_S = 0.05
_KILL_GRACE_S = 1.0
# After the job process broke, the server may still end the run in order: its word on the outcome is the better one.
_BROKEN_GRACE_S = 1.0

# nvflare 2.9.0 private/fed/client/client_executor.py: the parent's word on its job process.
_JOB_PROCESS_ENDED = re.compile(r"child worker process finished with RC (-?\d+)")


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
        self._job_exit: Optional[int] = None

    def run(self) -> int:
        render_client(self._spec, self._layout)
        # NVFlare's client tries a server that does not answer only every few seconds: start it when there is one.
        if not self._await_server():
            return STOPPED
        client = self._start_client()
        try:
            self._events.append("ready")
            return self._follow(client)
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
            on_line=self._hear,
        )

    def _hear(self, line: str) -> None:
        self._tracebacks.feed(line)
        ended = _JOB_PROCESS_ENDED.search(line)
        if ended:
            self._job_exit = int(ended.group(1))

    def _follow(self, client: NvflareProcess) -> int:
        while not self._stop.is_set():
            if self._run_ended():
                self._events.append("finished")
                return DONE
            if oom_kills() > self._oom_before:
                return self._fail(failure_of("", list(self._tracebacks.found), [], out_of_memory=True))
            if self._job_exit is not None or client.exit_code() is not None:
                return self._broken()
            self._stop.wait(_POLL_S)
        return STOPPED

    def _run_ended(self) -> bool:
        return any(entry["kind"] == "run-ended" for entry in self._journal.read())

    def _broken(self) -> int:
        deadline = time.monotonic() + _BROKEN_GRACE_S
        while time.monotonic() < deadline and not self._stop.is_set():
            if self._run_ended():
                self._events.append("finished")
                return DONE
            time.sleep(_POLL_S)
        if self._stop.is_set():
            return STOPPED
        if oom_kills() > self._oom_before:
            return self._fail(failure_of("", list(self._tracebacks.found), [], out_of_memory=True))
        if self._tracebacks.found:
            return self._fail(failure_of("the site's job process broke", list(self._tracebacks.found), []))
        code = "" if self._job_exit is None else f" with code {self._job_exit}"
        return self._fail(Failure("payload_exited", f"the site's job process ended{code}"))

    def _fail(self, failure: Failure) -> int:
        self._reserve.release()
        detail = {} if failure.detail is None else {"detail": failure.detail}
        self._events.append("failed", reason=failure.reason, message=failure.message, **detail)
        return FAILED
