"""Job launchers that add components of ours to the job process.

NVFlare 2.9.0 adds a site's own components to a job through one door alone: `local/privacy.json`, whose components join the run
(private/fed/server/server_app_runner.py `_set_up_run_config`, private/fed/client/client_app_runner.py `create_client_runner`). A
privacy policy must name the scopes it allows; the file is written as the job starts, for the very scope that the job's `meta.json`
names, and the parent process has no policy: nothing is refused that NVFlare alone would take.
"""

import json
import os
from pathlib import Path

from nvflare.apis.fl_constant import FLContextKey
from nvflare.apis.job_launcher_spec import JobReturnCode
from nvflare.app_common.job_launcher.client_process_launcher import ClientProcessJobLauncher
from nvflare.app_common.job_launcher.process_launcher import ProcessHandle
from nvflare.app_common.job_launcher.server_process_launcher import ServerProcessJobLauncher

from ..events import LineLog


class _WatchedHandle(ProcessHandle):
    """Writes to the journal how the job process ended: NVFlare maps every signal and code beyond 0, 1 and 9 to 1."""

    def wait(self):
        super().wait()
        LineLog(Path(os.environ["RT_RUNNER_JOURNAL"])).append("job-process-ended", code=self.adapter.poll())


class _ClientHandle(_WatchedHandle):
    def poll(self):
        """Of an end that is neither good nor asked for, NVFlare's server would end the whole job; the job's own quorum decides that here."""
        code = super().poll()
        return JobReturnCode.UNKNOWN if code == JobReturnCode.EXECUTION_ERROR else code


def _write_policy(job_meta: dict, fl_ctx, components: dict[str, str]) -> None:
    """@param components: class below `resontech_runner.inside`, by id"""
    scope = job_meta.get("scope") or "default"
    policy = {
        "scopes": [{"name": scope, "properties": {}}],
        "default_scope": scope,
        "components": [{"id": f"resontech_{name}", "path": f"resontech_runner.inside.{path}"} for name, path in components.items()],
    }
    workspace = fl_ctx.get_prop(FLContextKey.WORKSPACE_OBJECT)
    with open(os.path.join(workspace.get_site_config_dir(), "privacy.json"), "w", encoding="utf-8") as file:
        json.dump(policy, file)


class ServerLauncher(ServerProcessJobLauncher):
    def launch_job(self, job_meta: dict, fl_ctx):
        components = {
            "observer": "server_observer.ServerObserver",
            "lost_update": "lost_update.LostUpdate",
            "updates": "updates.Updates",
        }
        _write_policy(job_meta, fl_ctx, components)
        return _WatchedHandle(process_adapter=super().launch_job(job_meta, fl_ctx).adapter)


class ClientLauncher(ClientProcessJobLauncher):
    def launch_job(self, job_meta: dict, fl_ctx):
        components = {
            "observer": "client_observer.ClientObserver",
            "lost_connection": "lost_connection.LostConnection",
            "user_logger": "user_logger.UserLogger",
        }
        _write_policy(job_meta, fl_ctx, components)
        return _ClientHandle(process_adapter=super().launch_job(job_meta, fl_ctx).adapter)
