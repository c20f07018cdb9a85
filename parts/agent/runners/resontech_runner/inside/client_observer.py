"""In a client's job process: tells the server's observer what the site logged, and the runner when the run is over."""

import os
import sys
import threading
import time
from collections import deque
from pathlib import Path

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_constant import FLContextKey, ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.widgets.widget import Widget

from ..events import LineLog
from . import reports
from .in_flight import in_flight
from .log_tap import LogTap

# Lines that come in a burst travel together.
_GATHER_S = 0.05
_RETRY_S = 0.5
_SEND_TIMEOUT_S = 5.0
_FLUSH_TIMEOUT_S = 10.0
_MAX_QUEUED = 10_000


class ClientObserver(Widget):
    """Metrics are sent as they come, and all of a task's before its result: the server has them when the round ends."""

    def __init__(self):
        super().__init__()
        self._journal = LineLog(Path(os.environ["RT_RUNNER_JOURNAL"]))
        self._tap = LogTap(self._on_metric)
        self._tap.attach()
        self._queue: deque[str] = deque()
        self._dropped = 0
        self._sending = threading.Lock()
        self._engine = None
        self._expect_task()
        self._waiting = threading.Event()
        self._over = threading.Event()
        self._panic = None

    def _on_metric(self, value: str) -> None:
        if len(self._queue) < _MAX_QUEUED:
            self._queue.append(value)
            self._waiting.set()
        else:
            self._dropped += 1

    def handle_event(self, event_type: str, fl_ctx: FLContext):
        if event_type == EventType.START_RUN:
            self._engine = fl_ctx.get_engine()
            self._journal.append("run-started", job=fl_ctx.get_job_id())
            threading.Thread(target=self._send_steadily, name="resontech-reports", daemon=True).start()
        elif event_type == EventType.AFTER_TASK_EXECUTION:
            self._code = fl_ctx.get_prop(FLContextKey.TASK_RESULT).get_return_code()
        elif event_type == EventType.AFTER_TASK_RESULT_FILTER:
            self._filtered = True
        elif event_type == EventType.BEFORE_SEND_TASK_RESULT:
            self._report_failure()
            self._flush()
            self._expect_task()
        elif event_type == EventType.FATAL_SYSTEM_ERROR:
            self._panic = str(fl_ctx.get_prop(FLContextKey.EVENT_DATA, ""))[:4096]
        elif event_type == EventType.END_RUN:
            self._over.set()
            self._waiting.set()
            self._journal.append("run-ended", **self._why_ended(fl_ctx))

    def _why_ended(self, fl_ctx: FLContext) -> dict:
        """Whether the server ended the run. NVFlare ends it in the same order when the user's code leaves or breaks it."""
        signal = fl_ctx.get_run_abort_signal()
        if self._panic is None and signal is not None and signal.triggered:
            return {"byServer": True}
        return {"byServer": False, "why": self._panic or in_flight(sys.exc_info()[1])}

    def _expect_task(self) -> None:
        self._tap.errors.clear()
        self._code, self._filtered = ReturnCode.EXECUTION_EXCEPTION, False

    def _report_failure(self) -> None:
        """NVFlare returns early on most errors, without the events that follow: their absence tells as much as the code."""
        if self._code == ReturnCode.OK and self._filtered:
            return
        text = "\n".join(self._tap.errors)[-reports.MAX_ERROR_CHARS :]
        # Nothing was said: the task was aborted from outside.
        if text:
            self._send({reports.ERROR: {"code": str(self._code), "text": text}})

    def _send_steadily(self) -> None:
        while not self._over.is_set():
            if self._waiting.wait(_RETRY_S):
                self._waiting.clear()
                self._over.wait(_GATHER_S)
            self._send_queued()

    def _flush(self) -> None:
        deadline = time.monotonic() + _FLUSH_TIMEOUT_S
        while self._queue and time.monotonic() < deadline:
            if not self._send_queued():
                time.sleep(0.1)
        if self._dropped and self._send({reports.DROPPED: self._dropped}):
            self.logger.warning(f"{self._dropped} RT_METRIC lines dropped: more than {_MAX_QUEUED} were waiting")
            self._dropped = 0

    def _send_queued(self) -> bool:
        with self._sending:
            batch = list(self._queue)[: reports.MAX_METRICS_IN_REPORT]
            if not batch:
                return True
            if not self._send({reports.METRICS: batch}):
                return False
            for _ in batch:
                self._queue.popleft()
            return True

    def _send(self, content: dict) -> bool:
        """One report, answered by the server's observer; False when it must be tried again."""
        if self._engine is None:
            return False
        request = Shareable()
        request.update(content)
        with self._engine.new_context() as fl_ctx:
            replies = self._engine.send_aux_request(
                targets=None, topic=reports.TOPIC, request=request, timeout=_SEND_TIMEOUT_S, fl_ctx=fl_ctx, optional=True
            )
        return any(isinstance(reply, Shareable) and reply.get_return_code() == ReturnCode.OK for reply in replies.values())
