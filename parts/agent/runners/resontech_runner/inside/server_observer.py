"""In the server's job process: writes to the journal what the run does, whatever the workflow."""

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, Optional

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_constant import FLContextKey, ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable, make_reply
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType
from nvflare.widgets.widget import Widget

from ..events import LineLog
from ..log_lines import metric_of
from . import participants, reports
from .in_flight import in_flight
from .log_tap import LogTap


_LOOK_S = 0.25
_HOLD_LOOK_S = 0.05


class ServerObserver(Widget):
    def __init__(self):
        super().__init__()
        self._journal = LineLog(Path(os.environ["RT_RUNNER_JOURNAL"]))
        self._commit_order = Path(os.environ["RT_COMMIT_ORDER"])
        self._tap = LogTap(lambda said: self._on_metric("server", said))
        self._tap.attach()
        self._round: Optional[int] = None
        self._over = threading.Event()

    def handle_event(self, event_type: str, fl_ctx: FLContext):
        if event_type == EventType.START_RUN:
            fl_ctx.get_engine().register_aux_message_handler(topic=reports.TOPIC, message_handle_func=self._on_report)
            self._set_request_interval(fl_ctx)
            self._journal.append("run-started", job=fl_ctx.get_job_id())
            threading.Thread(target=self._follow_participants, args=[fl_ctx.get_engine()], name="resontech-rejoin", daemon=True).start()
        elif event_type == AppEventType.ROUND_STARTED:
            self._require_resumed(fl_ctx)
            if self._commit_order.exists():
                self._hold(fl_ctx)
                return
            self._on_round(fl_ctx.get_prop(AppConstants.CURRENT_ROUND), fl_ctx.get_prop(AppConstants.NUM_ROUNDS))
        elif event_type == EventType.BEFORE_TASK_DATA_FILTER:
            self._on_task(fl_ctx.get_prop(FLContextKey.TASK_DATA))
        elif event_type == EventType.BEFORE_PROCESS_SUBMISSION:
            self._on_result(fl_ctx)
        elif event_type == AppEventType.BEFORE_LEARNABLE_PERSIST:
            self._journal.append("persisting")
        elif event_type == AppEventType.ROUND_DONE:
            self._journal.append("round-done", round=self._round)
        elif event_type == EventType.FATAL_SYSTEM_ERROR:
            self._journal.append("fatal", text=str(fl_ctx.get_prop(FLContextKey.EVENT_DATA, ""))[:4096])
        elif event_type == EventType.END_RUN:
            self._over.set()
            # NVFlare ends a run in order also when a workflow or aggregator leaves it by `sys.exit`.
            self._journal.append("run-ended", aborted=self._is_aborted(fl_ctx), left=in_flight(sys.exc_info()[1]))

    def _set_request_interval(self, fl_ctx: FLContext) -> None:
        """How long an idle site waits before it asks for a task again.

        NVFlare 2.9.0 has no site default for it: 2 s unless the job's own `server.task_request_interval` says otherwise
        (private/fed/server/server_json_config.py). A job that says so keeps its word.
        """
        config = Path(fl_ctx.get_prop(FLContextKey.APP_ROOT)) / "config" / "config_fed_server.json"
        try:
            stated = json.loads(config.read_text(encoding="utf-8")).get("server", {}).get("task_request_interval")
        except (OSError, ValueError, AttributeError):
            stated = None
        runner_config = getattr(fl_ctx.get_engine().server, "runner_config", None)
        if stated is None and runner_config is not None:
            runner_config.task_request_interval = float(os.environ["RT_TASK_REQUEST_INTERVAL_S"])

    def _follow_participants(self, engine) -> None:
        """A site that came back has another token: NVFlare's job process asks its parent who takes part once, at the start."""
        while not self._over.wait(_LOOK_S):
            if participants.is_asked():
                engine.sync_clients_from_main_process()
                participants.answer()

    def _require_resumed(self, fl_ctx: FLContext) -> None:
        """A resumed run whose persistor did not take the saved model would go on from nothing and look like a trained one."""
        model = os.environ.get("RT_RESUME_MODEL")
        if model is None or self._round is not None:
            return
        components = fl_ctx.get_engine().run_manager.components.values()
        sources = (getattr(one, name, None) for one in components for name in ("ckpt_preload_path", "source_ckpt_file_full_name"))
        if model not in sources:
            self.system_panic("the persistor did not take the committed model", fl_ctx)

    def _hold(self, fl_ctx: FLContext) -> None:
        """Before a round: no site begins it, so the model on disk stays that of the last one. The runner takes it and aborts the run."""
        self._journal.append("held")
        while not self._is_aborted(fl_ctx):
            time.sleep(_HOLD_LOOK_S)

    def _on_round(self, number: Any, num_rounds: Any) -> None:
        if not isinstance(number, int) or number == self._round:
            return
        self._round = number
        self._journal.append("round", round=number, numRounds=num_rounds if isinstance(num_rounds, int) else None)

    def _on_task(self, task: Any) -> None:
        """Workflows that tell no rounds still number the tasks they hand out."""
        if isinstance(task, Shareable):
            number = task.get_header(AppConstants.CURRENT_ROUND)
            if isinstance(number, int) and (self._round is None or number > self._round):
                self._on_round(number, task.get_header(AppConstants.NUM_ROUNDS))

    def _on_result(self, fl_ctx: FLContext) -> None:
        result = fl_ctx.get_prop(FLContextKey.TASK_RESULT)
        peer = fl_ctx.get_peer_context()
        if peer is None or not isinstance(result, Shareable):
            return
        if result.get_return_code(ReturnCode.OK) == ReturnCode.OK:
            self._journal.append("contribution", site=peer.get_identity_name())

    def _on_report(self, topic: str, request: Shareable, fl_ctx: FLContext) -> Shareable:
        """From a site's observer. The site is who NVFlare authenticated, whatever the message says."""
        site = fl_ctx.get_peer_context().get_identity_name()
        metrics = request.get(reports.METRICS)
        if isinstance(metrics, list):
            for value in metrics[: reports.MAX_METRICS_IN_REPORT]:
                # The user's code runs in the site's process and could send anything.
                if isinstance(value, str):
                    self._on_metric(site, value)
        dropped = request.get(reports.DROPPED)
        if isinstance(dropped, int):
            self._journal.append("metrics-dropped", site=site, count=dropped)
        error = request.get(reports.ERROR)
        if isinstance(error, dict):
            text = str(error.get("text", ""))[-reports.MAX_ERROR_CHARS :]
            self._journal.append("site-error", site=site, code=str(error.get("code", ""))[:64], text=text)
        return make_reply(ReturnCode.OK)

    def _on_metric(self, site: str, said: str) -> None:
        metric = metric_of(said)
        problem = {} if metric.problem is None else {"problem": metric.problem}
        self._journal.append("metric", site=site, value=metric.json, **problem)

    @staticmethod
    def _is_aborted(fl_ctx: FLContext) -> bool:
        signal = fl_ctx.get_run_abort_signal()
        return bool(signal and signal.triggered)
