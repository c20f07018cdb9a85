"""Between the server's parent process (rejoin.py) and its job process (server_observer.py): who takes part has changed, fetch it anew.

Two files beside the journal, each there or not.
"""

import os
from pathlib import Path


def ask() -> None:
    _file("known").unlink(missing_ok=True)
    _file("asked").touch()


def is_asked() -> bool:
    return _file("asked").exists()


def answer() -> None:
    _file("asked").unlink(missing_ok=True)
    _file("known").touch()


def is_answered() -> bool:
    return _file("known").exists()


def _file(state: str) -> Path:
    return Path(os.environ["RT_RUNNER_JOURNAL"]).with_name(f"participants.{state}")
