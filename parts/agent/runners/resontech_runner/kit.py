"""NVFlare's start-up kits, rendered around keys that were made on the node.

What `nvflare provision` writes (nvflare 2.9.0, lighter/impl/static_file.py and lighter/templates/master_template.yml), less its
shell scripts and its key making. Keys are linked to, never copied. Kits without HE or confidential computing carry no
`signature.json`; the certificates are the trust.
"""

import json
from pathlib import Path
from typing import Any

from .layout import Layout
from .spec import RunnerSpec

SUBMITTER = "submitter"
"""CN of the submitter's certificate: SUBMITTER_NAME of contracts/src/agent/federation-certificates.ts."""

_INSIDE = "resontech_runner.inside"
_RETRY_INTERVAL_S = 0.2

# Text alone, to standard output, which the runner follows; NVFlare's default also writes four files a process.
_LOG_CONFIG: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": "nvflare.fuel.utils.log_utils.BaseFormatter",
            "fmt": "%(asctime)s - %(name)s - %(levelname)s - %(fl_ctx)s - %(message)s",
        }
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "level": "DEBUG", "formatter": "plain", "stream": "ext://sys.stdout"}
    },
    "loggers": {"root": {"level": "INFO", "handlers": ["console"]}},
}

# A job is the user's own code in the user's own containers: it may name any class, as NVFlare alone would let it.
_COMPONENT_POLICY = {"format_version": 2, "class_allow_list": ["*"]}


def render_server(spec: RunnerSpec, layout: Layout) -> None:
    workspace = layout.site_workspace
    _write(workspace / "startup/fed_server.json", fed_server(spec))
    _write(workspace / "local/resources.json", server_resources(workspace))
    _write(workspace / "local/log_config.json", _LOG_CONFIG)
    (workspace / "transfer").mkdir(exist_ok=True)
    _link(workspace, layout, {"server.key": "member.key", "server.crt": "member.crt", "rootCA.pem": "rootCA.pem"})


def render_admin(spec: RunnerSpec, layout: Layout) -> None:
    workspace = layout.admin_workspace
    _write(workspace / "startup/fed_admin.json", fed_admin(spec))
    (workspace / "local").mkdir(exist_ok=True)
    _link(workspace, layout, {"client.key": "admin.key", "client.crt": "admin.crt", "rootCA.pem": "rootCA.pem"})


def render_client(spec: RunnerSpec, layout: Layout) -> None:
    workspace = layout.site_workspace
    _write(workspace / "startup/fed_client.json", fed_client(spec))
    _write(workspace / "local/resources.json", client_resources())
    _write(workspace / "local/log_config.json", _LOG_CONFIG)
    _link(workspace, layout, {"client.key": "member.key", "client.crt": "member.crt", "rootCA.pem": "rootCA.pem"})


def fed_server(spec: RunnerSpec) -> dict[str, Any]:
    return {
        "format_version": 2,
        "require_signed_jobs": True,
        "servers": [
            {
                "name": spec.attempt,
                "service": {"target": f"{spec.server_name}:{spec.server_port}", "scheme": "grpc"},
                "admin_server": spec.server_name,
                "admin_port": spec.server_port,
                "ssl_private_key": "server.key",
                "ssl_cert": "server.crt",
                "ssl_root_cert": "rootCA.pem",
                "connection_security": "mtls",
                # How often the job process looks whether it is done (default 3 s).
                "check_engine_frequency": _RETRY_INTERVAL_S,
            }
        ],
    }


def server_resources(workspace: Path) -> dict[str, Any]:
    storage = "nvflare.app_common.storages.filesystem_storage.FilesystemStorage"
    return {
        **_COMPONENT_POLICY,
        "servers": [{"admin_storage": "transfer", "max_num_clients": 10_000, "heart_beat_timeout": 600, "admin_timeout": 10.0}],
        # NVFlare's defaults for both stores are under /tmp/nvflare.
        "snapshot_persistor": {
            "path": "nvflare.app_common.state_persistors.storage_state_persistor.StorageStatePersistor",
            "args": {
                "uri_root": "/",
                "storage": {"path": storage, "args": {"root_dir": str(workspace / "snapshots"), "uri_root": "/"}},
            },
        },
        "components": [
            {
                "id": "job_scheduler",
                "path": "nvflare.app_common.job_schedulers.job_scheduler.DefaultJobScheduler",
                "args": {"max_jobs": 1, "min_schedule_interval": 1.0},
            },
            {
                "id": "job_manager",
                "path": "nvflare.apis.impl.job_def_manager.SimpleJobDefManager",
                "args": {"uri_root": str(workspace / "jobs"), "job_store_id": "job_store"},
            },
            {"id": "job_store", "path": storage},
            {"id": "process_launcher", "path": f"{_INSIDE}.launchers.ServerLauncher"},
            {"id": "rejoined_sites", "path": f"{_INSIDE}.rejoin.RejoinedSites"},
        ],
    }


def fed_client(spec: RunnerSpec) -> dict[str, Any]:
    return {
        "format_version": 2,
        "require_signed_jobs": True,
        "servers": [
            {
                "name": spec.attempt,
                "service": {"target": f"{spec.server_name}:{spec.server_port}", "scheme": "grpc"},
                "identity": spec.server_name,
            }
        ],
        "client": {
            "ssl_private_key": "client.key",
            "ssl_cert": "client.crt",
            "ssl_root_cert": "rootCA.pem",
            "fqsn": spec.site,
            "is_leaf": True,
            "connection_security": "mtls",
            # Between attempts to register (default 2 s).
            "client_register_interval": _RETRY_INTERVAL_S,
        },
    }


def client_resources() -> dict[str, Any]:
    return {
        **_COMPONENT_POLICY,
        "client": {"retry_timeout": 30, "compression": "Gzip"},
        "components": [
            {
                # The container holds the devices already; NVFlare has nothing to share out among jobs.
                "id": "resource_manager",
                "path": "nvflare.app_common.resource_managers.gpu_resource_manager.GPUResourceManager",
                "args": {"num_of_gpus": 0, "mem_per_gpu_in_GiB": 0},
            },
            {
                "id": "resource_consumer",
                "path": "nvflare.app_common.resource_consumers.gpu_resource_consumer.GPUResourceConsumer",
                "args": {},
            },
            {"id": "process_launcher", "path": f"{_INSIDE}.launchers.ClientLauncher"},
        ],
    }


def fed_admin(spec: RunnerSpec) -> dict[str, Any]:
    return {
        "format_version": 1,
        "admin": {
            "project_name": spec.attempt,
            "username": SUBMITTER,
            "server_identity": spec.server_name,
            "scheme": "grpc",
            # The same container; the server's certificate names it.
            "host": "localhost",
            "port": spec.server_port,
            "connection_security": "mtls",
            "uid_source": "user_input",
            "with_file_transfer": True,
            "upload_dir": "transfer",
            "download_dir": "transfer",
            "client_key": "client.key",
            "client_cert": "client.crt",
            "ca_cert": "rootCA.pem",
            # The session lives as long as the job.
            "idle_timeout": 10 * 365 * 24 * 3600.0,
            "login_timeout": 10.0,
            "with_debug": False,
            "authenticate_msg_timeout": 2.0,
        },
    }


def _write(file: Path, content: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=2), encoding="utf-8")


def _link(workspace: Path, layout: Layout, names: dict[str, str]) -> None:
    for name, source in names.items():
        (workspace / "startup" / name).symlink_to(layout.kit / source)
