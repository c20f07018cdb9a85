"""Composition: the spec, the signals, one run."""

import contextlib
import os
import signal
import sys
import threading
import traceback
from pathlib import Path

from .client import ClientRun
from .environment import job_environment
from .events import LineLog, is_disk_full
from .exit_code import FAILED
from .layout import Layout
from .server import ServerRun
from .spec import read_spec

_PACKAGE_ROOT = Path(__file__).resolve().parent.parent


def main(layout: Layout = Layout()) -> int:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    # Files of one member are nobody else's.
    os.umask(0o077)
    try:
        spec = read_spec(layout.spec)
        # NVFlare's client library runs in this process too.
        os.environ.update(job_environment(layout, _PACKAGE_ROOT))
        for folder in (layout.site_workspace, layout.admin_workspace, layout.out):
            folder.mkdir(parents=True, exist_ok=True)
        # NVFlare's library looks for a comm_config.json in and under the current folder, and `/` takes it seconds.
        os.chdir(layout.admin_workspace)
        run = (ServerRun if spec.role == "server" else ClientRun)(spec, layout, _PACKAGE_ROOT, stop)
        code = run.run()
    except Exception as error:
        _tell_breakdown(layout, error)
        code = FAILED
    # The session's threads (gRPC, NVFlare) would hold the interpreter for seconds; everything of ours is written.
    os._exit(code)


def _tell_breakdown(layout: Layout, error: Exception) -> None:
    text = traceback.format_exc()
    reason, message = ("disk_limit", "the disk of this member is full") if is_disk_full(error) else ("federation_failed", "the runner broke")
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)
        layout.events.with_name("reserve").unlink(missing_ok=True)
        LineLog(layout.events).append("failed", reason=reason, message=message, detail=text[-4096:])
