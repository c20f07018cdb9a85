"""The one held session of the submitter with the server in this container."""

import time
from pathlib import Path
from typing import Any, Callable

from .kit import SUBMITTER

_CONNECT_TIMEOUT_S = 5.0


def load_client_library() -> None:
    """Half a second of work, done while the server starts."""
    import nvflare.fuel.flare_api.flare_api  # noqa: F401


class Submitter:
    def __init__(self, session: Any):
        self._session = session

    @staticmethod
    def connect(workspace: Path, keep_trying: Callable[[], bool]) -> "Submitter":
        """Tries until it is let in; raises what NVFlare said last once `keep_trying` answers no."""
        from nvflare.fuel.flare_api.flare_api import new_secure_session

        while True:
            try:
                return Submitter(new_secure_session(SUBMITTER, str(workspace), timeout=_CONNECT_TIMEOUT_S))
            except Exception:
                if not keep_trying():
                    raise
                time.sleep(0.1)

    def registered_sites(self) -> list[str]:
        return [client.name for client in self._session.get_system_info().client_info]

    def submit(self, job_folder: Path) -> str:
        """Signs the folder with the submitter's key; answers NVFlare's job id."""
        return self._session.submit_job(str(job_folder))

    def job_status(self, job_id: str) -> str:
        return str(self._session.get_job_meta(job_id).get("status"))

    def abort(self, job_id: str) -> None:
        self._session.abort_job(job_id)
