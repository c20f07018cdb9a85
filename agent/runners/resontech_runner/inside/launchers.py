"""Job launchers that add components of ours to the job process.

NVFlare 2.9.0 adds a site's own components to a job through one door alone: `local/privacy.json`, whose components join the run
(private/fed/server/server_app_runner.py `_set_up_run_config`, private/fed/client/client_app_runner.py `create_client_runner`). A
privacy policy must name the scopes it allows; the file is written as the job starts, for the very scope that the job's `meta.json`
names, and the parent process has no policy: nothing is refused that NVFlare alone would take.
"""

import json
import os

from nvflare.apis.fl_constant import FLContextKey
from nvflare.app_common.job_launcher.client_process_launcher import ClientProcessJobLauncher
from nvflare.app_common.job_launcher.server_process_launcher import ServerProcessJobLauncher


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
        components = {"observer": "server_observer.ServerObserver", "lost_update": "lost_update.LostUpdate"}
        _write_policy(job_meta, fl_ctx, components)
        return super().launch_job(job_meta, fl_ctx)


class ClientLauncher(ClientProcessJobLauncher):
    def launch_job(self, job_meta: dict, fl_ctx):
        components = {"observer": "client_observer.ClientObserver", "lost_connection": "lost_connection.LostConnection"}
        _write_policy(job_meta, fl_ctx, components)
        return super().launch_job(job_meta, fl_ctx)
