"""The server's container: NVFlare's server, the submission, and what the job does until its model is there."""

import contextlib
import json
import socket
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any, Optional

from .environment import job_environment
from .events import FailureReserve, LineLog, LineTail, seconds_of
from .exit_code import DONE, FAILED, STOP_GRACE_S, STOPPED
from .failure import Failure, SiteError, failure_of, headline_of
from .job_folder import assemble_job, resume_job
from .kit import render_admin, render_server
from .layout import Layout
from .log_lines import TracebackCollector
from .memory_limit import oom_kills
from .model_file import ModelFile, find_model, is_older, settled_model
from .nvflare_process import NvflareProcess
from .process_end import end_in_words
from .round_updates import RoundUpdates, SiteWarning
from .rounds import RoundEnded, RoundFact, RoundStarted, RoundTracker
from .spec import Resume, RunnerSpec
from .submitter import Submitter, load_client_library

_POLL_S = 0.05
_REGISTER_POLL_S = 0.1
_STATUS_POLL_S = 1.0
_MODEL_SETTLE_S = 5.0
_ABORT_GRACE_S = 2.0
# The sites hear of the run's end from the server's processes, so these live a moment longer.
_FAREWELL_S = 1.0
_KILL_GRACE_S = 1.0


class ServerRun:
    def __init__(self, spec: RunnerSpec, layout: Layout, package_root: Path, stop: threading.Event):
        self._spec = spec
        self._layout = layout
        self._stop = stop
        self._reserve = FailureReserve(layout.events)
        self._events = LineLog(layout.events)
        self._metrics = LineLog(layout.metrics)
        self._journal = LineTail(layout.journal)
        self._tracebacks = TracebackCollector()
        self._rounds = RoundTracker(num_rounds=spec.num_rounds)
        self._updates = RoundUpdates(spec.sites, spec.min_clients)
        self._shortfall: Optional[Failure] = None
        self._save_error = ""
        # Of the model that this round saved; None before it saved one that could be looked at.
        self._model_fault: Optional[str] = None
        self._site_errors: deque[SiteError] = deque(maxlen=16)
        self._fatal: Optional[str] = None
        self._has_begun = False
        self._run_over = False
        # It is to commit, and stands between two rounds.
        self._is_held = False
        self._broken = False
        # What the run was left with, by the user's code and before its end; how its process ended, where that is known.
        self._left = ""
        self._has_exited = False
        self._exit_code: Optional[int] = None
        self._oom_before = oom_kills()
        self._log = open(layout.training_log, "ab", buffering=0)
        self._persisted_at: Optional[float] = None
        self._job: Optional[str] = None
        self._package_root = package_root

    def run(self) -> int:
        spec, layout = self._spec, self._layout
        render_server(spec, layout)
        render_admin(spec, layout)
        self._server = self._start_server()
        try:
            assemble_job(layout.scripts, layout.configs, layout.job_folder)
            if spec.resume is not None:
                self._say_resumed(spec.resume, resume_job(layout.job_folder, spec.resume))
            code = self._run_job()
            if code == STOPPED:
                self._server.ask_jobs_to_end(STOP_GRACE_S)
            return code
        finally:
            self._server.stop(_KILL_GRACE_S)
            self._log.close()

    def _start_server(self) -> NvflareProcess:
        environment = job_environment(self._layout, self._package_root)
        environment["RT_TASK_REQUEST_INTERVAL_S"] = str(self._spec.task_request_interval_s)
        if self._spec.resume is not None:
            environment["RT_RESUME_MODEL"] = str(self._spec.resume.model_file)
        return NvflareProcess(
            "nvflare.private.fed.app.server.server_train",
            ["-m", str(self._layout.site_workspace), "-s", "fed_server.json", "--set", "secure_train=true"]
            + [f"org={self._spec.org}", "config_folder=config"],
            environment,
            cwd=self._layout.site_workspace,
            on_line=self._tracebacks.feed,
            copy_to=self._log,
        )

    def _say_resumed(self, resume: Resume, changed: dict[str, str]) -> None:
        """In the member's log, beside the run that it is about."""
        print(f"resumed at round {resume.start_round} with {resume.rounds_left} rounds left; changed files by SHA-256:", flush=True)
        for file, digest in sorted(changed.items()):
            print(f"  {digest}  {file}", flush=True)

    def _run_job(self) -> int:
        submitter = self._open_session()
        if submitter is None or not self._await_sites(submitter):
            return self._stopped_or_broken("the federation server did not come up")
        try:
            self._job = submitter.submit(self._layout.job_folder)
        except Exception as refusal:
            return self._fail(Failure("config_invalid", f"NVFlare refused the job: {refusal}"[:1000]))
        return self._follow(submitter, self._job)

    def _open_session(self) -> Optional[Submitter]:
        load_client_library()
        # A session that finds no server yet tries again only seconds later.
        while self._still_going() and not _answers(self._spec.server_port):
            time.sleep(_POLL_S)
        if not self._still_going():
            return None
        self._events.append("ready")
        try:
            return Submitter.connect(self._layout.admin_workspace, self._still_going)
        except Exception as error:
            self._fatal = str(error)
            return None

    def _await_sites(self, submitter: Submitter) -> bool:
        """`@ALL` means the sites that are registered now, so the job waits for every one."""
        missing = set(self._spec.sites)
        while missing and self._still_going():
            for site in missing.intersection(submitter.registered_sites()):
                self._events.append("site-registered", site=site)
                missing.discard(site)
            if missing:
                self._stop.wait(_REGISTER_POLL_S)
        return not missing

    def _follow(self, submitter: Submitter, job: str) -> int:
        next_status = time.monotonic() + _STATUS_POLL_S
        while not self._stop.is_set():
            self._read_journal()
            if self._shortfall is not None:
                return self._fail(self._shortfall)
            if self._run_over:
                return self._conclude()
            if self._is_held:
                # The round's model is on disk and told; the agent commits it once this container has ended.
                return self._abort(submitter, job)
            if self._has_exited:
                return self._exited(f"server: its job process {end_in_words(self._exit_code)}")
            if self._server.exit_code() is not None:
                return self._exited(f"server: NVFlare's server {end_in_words(self._server.exit_code())}")
            if time.monotonic() >= next_status:
                # The run's own end is in the journal at once; this finds a job that broke before or without it.
                next_status = time.monotonic() + _STATUS_POLL_S
                status = _status_or_none(submitter, job)
                if status is not None and _is_over(status):
                    self._read_journal()
                    if self._shortfall is not None:
                        return self._fail(self._shortfall)
                    return self._conclude() if self._run_over else self._fail_with(f"NVFlare ended the job: {status}")
            self._stop.wait(_POLL_S)
        return self._abort(submitter, job)

    def _read_journal(self) -> None:
        for entry in self._journal.read():
            # The user's code can write there too: what is not as our observers write it is passed over.
            with contextlib.suppress(KeyError, TypeError, ValueError):
                self._take(entry)

    def _take(self, entry: dict[str, Any]) -> None:
        kind = entry["kind"]
        if kind == "run-started":
            self._has_begun = True
            self._events.append("job-started", nvflareJob=str(entry.get("job")))
        elif kind == "round":
            # A resumed workflow counts what is left; people count the whole.
            num_rounds = entry.get("numRounds") if self._spec.resume is None else None
            self._tell(self._rounds.started(entry["round"], num_rounds, seconds_of(entry)))
        elif kind == "round-done":
            self._tell(self._rounds.finished())
        elif kind == "held" and self._layout.commit_order.exists():
            self._tell(self._rounds.finished())
            self._is_held = True
        elif kind == "persisting":
            self._persisted_at = seconds_of(entry)
        elif kind == "persisted":
            self._save_error = str(entry["why"])
            if self._save_error:
                self._warn(SiteWarning("server", "model-not-saved", f"saving the model: {self._save_error}", self._rounds.current))
        elif kind == "model":
            self._model_fault = str(entry["fault"])
        elif kind == "workflow":
            self._updates.workflow(bool(entry["counted"]), bool(entry["asksAll"]), entry["minClients"])
        elif kind == "sent":
            self._updates.sent(entry["site"])
        elif kind == "update":
            self._updates.came(entry["site"], entry["outcome"], self._said_by(entry["site"]) or entry["why"], entry["note"])
        elif kind == "contribution":
            self._rounds.contributed(entry["site"])
        elif kind == "metric":
            self._events.append("metric", site=entry["site"], value=entry["value"])
            self._metrics.append("metric", site=entry["site"], metric=json.loads(entry["value"]))
            if "problem" in entry:
                self._warn(SiteWarning(entry["site"], "metric-kept-as-text", f"a line RT_METRIC is kept as text: {entry['problem']}"))
        elif kind == "metrics-dropped":
            text = f"lines RT_METRIC came faster than they could be sent; the first {entry['count']} of those were dropped"
            self._warn(SiteWarning(entry["site"], "metrics-dropped", text))
        elif kind == "site-error":
            self._site_errors.append(SiteError(entry["site"], entry["code"], entry["text"]))
        elif kind == "fatal":
            self._fatal = self._fatal or entry["text"]
        elif kind == "run-ended":
            self._left = str(entry.get("left", ""))
            self._broken = bool(entry.get("aborted")) or self._fatal is not None or self._left != ""
            self._run_over = True
            if not self._broken:
                self._tell(self._rounds.finished())
        elif kind == "job-process-ended":
            code = entry.get("code")
            self._has_exited = True
            self._exit_code = code if isinstance(code, int) else None

    def _tell(self, facts: list[RoundFact]) -> None:
        for fact in facts:
            if isinstance(fact, RoundStarted):
                for log in (self._events, self._metrics):
                    log.append("round-started", round=fact.round, numRounds=fact.num_rounds)
            else:
                self._tell_round_end(fact)

    def _tell_round_end(self, fact: RoundEnded) -> None:
        model = self._model_since(fact.started_at)
        digest = {} if model is None else {"modelSha256": model.sha256}
        fault, self._model_fault = self._model_fault, None
        if fault is not None:
            digest["isFinite"] = fault == ""
        sites = list(self._updates.counted_sites() if self._updates.is_counted else fact.sites)
        count = self._updates.close(fact.round)
        self._events.append("round-ended", round=fact.round, sites=sites, **digest)
        self._metrics.append("round-ended", round=fact.round, sites=sites, **digest, updates=count.counts)
        for warning in count.warnings:
            self._warn(warning)
        if fault:
            self._warn(SiteWarning("server", "model-not-finite", f"the model {fault}", fact.round))
            if self._spec.refuses_non_finite:
                self._shortfall = self._shortfall or Failure("model_not_finite", f"round {fact.round}: the model {fault}")
                return
        if count.shortfall is not None:
            self._shortfall = self._shortfall or self._failure_of_round(count.shortfall)
            return
        if self._updates.is_counted:
            # The quorum carried it: no later end comes from this.
            self._site_errors.clear()
        if model is not None:
            self._events.append("round-model", round=fact.round, file=str(model.path), sha256=model.sha256)

    def _failure_of_round(self, shortfall: str) -> Failure:
        """Where sites raised, what the first of them said is the cause."""
        if self._site_errors:
            return failure_of(shortfall, [], list(self._site_errors))
        return Failure("updates_rejected", shortfall, self._server.last_lines() or None)

    def _said_by(self, site: str) -> str:
        """What was raised at a site in this round."""
        return next((headline_of(error.text) for error in reversed(self._site_errors) if error.site == site), "")

    def _warn(self, warning: SiteWarning) -> None:
        number = {} if warning.round is None else {"round": warning.round}
        self._events.append("warning", site=warning.site, topic=warning.topic, text=warning.text[:1000], **number)

    def _model_since(self, started_at: float) -> Optional[ModelFile]:
        path = find_model(self._layout.out, self._layout.site_workspace, self._job)
        # A model of the round before is older than this round's training.
        if path is None or is_older(path.stat().st_mtime_ns, started_at):
            return None
        return settled_model(path)

    def _conclude(self) -> int:
        if self._left != "" and self._fatal is None:
            return self._exited(f"server: its job process left the run: {self._left}")
        if self._broken:
            return self._fail_with(self._fatal or "the run was aborted")
        model = self._final_model()
        if model is None:
            why = f": {self._save_error}" if self._save_error else ""
            return self._fail(Failure("output_missing", f"the last round wrote no global model{why}", _last(self._tracebacks)))
        self._events.append("finished", modelFile=str(model.path), modelName=model.path.name, modelSha256=model.sha256)
        self._stop.wait(_FAREWELL_S)
        return DONE

    def _final_model(self) -> Optional[ModelFile]:
        """The model of the last save. Persistors swallow their own errors, so an older file means that the last save failed."""
        since = self._rounds.started_at if self._persisted_at is None else self._persisted_at
        deadline = time.monotonic() + _MODEL_SETTLE_S
        while True:
            model = self._model_since(since)
            if model is not None or time.monotonic() >= deadline or self._stop.is_set():
                return model
            time.sleep(_POLL_S)

    def _abort(self, submitter: Submitter, job: str) -> int:
        try:
            submitter.abort(job)
        except Exception as error:
            print(f"NVFlare would not abort: {error}", flush=True)
        # The run's end is the last that user code in this job can take part in; NVFlare's own wind-down takes seconds more.
        deadline = time.monotonic() + _ABORT_GRACE_S
        while time.monotonic() < deadline and self._server.exit_code() is None:
            if any(entry["kind"] == "run-ended" for entry in self._journal.read()):
                break
            time.sleep(_POLL_S)
        return STOPPED

    def _still_going(self) -> bool:
        return not self._stop.is_set() and self._server.exit_code() is None

    def _stopped_or_broken(self, summary: str) -> int:
        return STOPPED if self._stop.is_set() else self._fail_with(summary)

    def _fail_with(self, summary: str) -> int:
        # The last lines of a process that just ended are still on their way.
        time.sleep(0.2)
        killed = oom_kills() > self._oom_before
        return self._fail(failure_of(self._fatal or summary, list(self._tracebacks.found), list(self._site_errors), killed, self._has_begun))

    def _exited(self, how: str) -> int:
        """A process of ours ended that had no leave to: nobody but the job's own code is there to end it."""
        time.sleep(0.2)
        if oom_kills() > self._oom_before or self._tracebacks.found or self._site_errors:
            return self._fail_with(how)
        return self._fail(Failure("payload_exited", how, self._server.last_lines() or None))

    def _fail(self, failure: Failure) -> int:
        self._reserve.release()
        detail = {} if failure.detail is None else {"detail": failure.detail}
        site = {} if failure.site is None else {"site": failure.site}
        self._events.append("failed", reason=failure.reason, message=failure.message, **detail, **site)
        return FAILED


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _status_or_none(submitter: Submitter, job: str) -> Optional[str]:
    try:
        return submitter.job_status(job)
    except Exception:
        return None


def _is_over(status: str) -> bool:
    """nvflare 2.9.0 apis/job_def.py RunStatus."""
    return status.startswith("FINISHED") or status in ("FAILED_TO_RUN", "ABANDONED")


def _last(tracebacks: TracebackCollector) -> Optional[str]:
    return tracebacks.found[-1] if tracebacks.found else None
