"""In the server's parent process: a site that comes back, in another container and maybe on another node, takes part in the running job again.

NVFlare 2.9.0 starts a job on the sites that are online at that moment and on no other; a site that registers again gets a new token, which
the running job does not know. What the job runner did for the site at the start is done again for it alone: the job process learns the
token, the application is deployed, the site's job process is started (private/fed/server/job_runner.py `_deploy_job`, `_start_run`). The
workflow then sends the site whatever round it is in: tasks belong to sites by name (apis/impl/wf_comm_server.py).
"""

import threading
import time

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_component import FLComponent
from nvflare.apis.fl_constant import RunProcessKey
from nvflare.apis.fl_context import FLContext
from nvflare.apis.job_scheduler_spec import DispatchInfo
from nvflare.private.admin_defs import MsgHeader, ReturnCode

from . import participants

_LOOK_S = 0.5
_RETRY_S = 2.0
_LEARN_TIMEOUT_S = 10.0
_DEPLOY_TIMEOUT_S = 60.0


class RejoinedSites(FLComponent):
    def __init__(self):
        super().__init__()
        self._over = threading.Event()

    def handle_event(self, event_type: str, fl_ctx: FLContext):
        if event_type == EventType.SYSTEM_START:
            threading.Thread(target=self._watch, args=[fl_ctx.get_engine()], name="resontech-rejoin", daemon=True).start()
        elif event_type == EventType.SYSTEM_END:
            self._over.set()

    def _watch(self, engine) -> None:
        while not self._over.wait(_LOOK_S):
            for job_id, process in list(engine.run_processes.items()):
                job = engine.job_runner.running_jobs.get(job_id)
                if job is None:
                    continue
                for client in _newcomers(engine, process):
                    try:
                        self._take_back(engine, job, process, client)
                    except Exception as error:
                        self.logger.warning(f"{client.name} could not rejoin yet: {error}")
                        self._over.wait(_RETRY_S)

    def _take_back(self, engine, job, process, client) -> None:
        participants = dict(process[RunProcessKey.PARTICIPANTS])
        known = {token: one for token, one in participants.items() if one.name != client.name}
        process[RunProcessKey.PARTICIPANTS] = {**known, client.token: client}
        try:
            _let_job_process_learn()
            self._deploy(engine, job, client)
            self._start(engine, job, client)
        except Exception:
            # The next look tries again from the beginning.
            process[RunProcessKey.PARTICIPANTS] = participants
            raise
        self.logger.info(f"{client.name} takes part in {job.job_id} again")

    def _deploy(self, engine, job, client) -> None:
        with engine.new_context() as fl_ctx:
            for app_name in job.get_deployment():
                message = engine.job_runner._make_deploy_message(job, job.get_application(app_name, fl_ctx), app_name, fl_ctx)
                replies = engine.server.admin_server.send_requests_and_get_reply_dict(
                    {client.token: message}, timeout_secs=_DEPLOY_TIMEOUT_S
                )
                _require_ok(replies.get(client.token), "deploy")

    def _start(self, engine, job, client) -> None:
        with engine.new_context() as fl_ctx:
            app_name = next(iter(job.get_deployment()))
            is_enough, token = engine.check_client_resources(job, {client.name: {}}, fl_ctx).get(client.name, (False, ""))
            if not is_enough:
                raise RuntimeError("its resource manager has no room")
            sites = {client.name: DispatchInfo(app_name=app_name, resource_requirements={}, token=token)}
            replies = engine.start_client_job(job, sites, fl_ctx)
            _require_ok(replies[0].reply if replies else None, "start")


def _newcomers(engine, process) -> list:
    """Sites of the job that are registered under another token than the job knows."""
    participants = process.get(RunProcessKey.PARTICIPANTS) or {}
    names = {one.name for one in participants.values()}
    clients = dict(engine.client_manager.get_clients())
    return [client for token, client in clients.items() if client.name in names and token not in participants]


def _require_ok(reply, what: str) -> None:
    if reply is None:
        raise RuntimeError(f"no answer to {what}")
    code = reply.get_header(MsgHeader.RETURN_CODE, ReturnCode.OK)
    if code != ReturnCode.OK:
        raise RuntimeError(f"{what} was refused: {reply.body}")


def _let_job_process_learn() -> None:
    """Waits until the job process has fetched the participants anew."""
    participants.ask()
    deadline = time.monotonic() + _LEARN_TIMEOUT_S
    while not participants.is_answered():
        if time.monotonic() > deadline:
            raise RuntimeError("the job process did not fetch the participants")
        time.sleep(0.05)
