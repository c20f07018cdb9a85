"""The environment of NVFlare's processes and of the user's code in them."""

import os
from pathlib import Path

from .layout import Layout
from .model_file import DEFAULT_MODEL_NAME

# Nothing phones home: there is nowhere to, and a try costs seconds of time-out.
_NO_TELEMETRY = {
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "WANDB_MODE": "offline",
    "WANDB_DISABLE_CODE": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "RAY_USAGE_STATS_ENABLED": "0",
    "ANONYMIZED_TELEMETRY": "False",
    "LIGHTNING_DISABLE_VERSION_CHECK": "1",
}


def job_environment(layout: Layout, package_root: Path) -> dict[str, str]:
    """`package_root` is the folder that holds `resontech_runner`: NVFlare's processes load our components from it."""
    environment = {
        **os.environ,
        **_NO_TELEMETRY,
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "PYTHONUNBUFFERED": "1",
        # `/local/custom` is where NVFlare's own start script points.
        "PYTHONPATH": f"/local/custom:{package_root}",
        "RESONTECH_OUT_DIR": str(layout.out),
        "RESONTECH_OUT_FILENAME": DEFAULT_MODEL_NAME,
        "RT_RUNNER_JOURNAL": str(layout.journal),
        "RT_COMMIT_ORDER": str(layout.commit_order),
        # After a run NVFlare waits this long for each site's word on how it ended; its default of 900 s keeps a job with a lost site
        # RUNNING for a quarter of an hour.
        "NVFLARE_CLIENT_OUTCOME_WAIT_TIMEOUT": "30",
    }
    # More threads than the CPU quota thrash; torch would start one for each core of the host.
    environment.setdefault("OMP_NUM_THREADS", str(cpu_quota()))
    return environment


def cpu_quota(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Whole CPUs that the container may use, at least 1."""
    available = len(os.sched_getaffinity(0))
    try:
        quota, period = (cgroup / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:
            quota = (cgroup / "cpu/cpu.cfs_quota_us").read_text().strip()
            period = (cgroup / "cpu/cpu.cfs_period_us").read_text().strip()
        except OSError:
            return available
    if quota in ("max", "-1"):
        return available
    return max(1, min(available, int(quota) // int(period)))
