"""In the server's job process: an update that can't be fetched from its site is dropped, and the run goes on.

The large values of an update are fetched from its site after its message has come. When that fails NVFlare 2.9.0 ends the server's job process
(fuel/f3/cellnet/cell.py `Adapter.call`), 600 s after the site or its connection was lost, lest an update vanish unseen. Here none does: the site
sends it again (lost_connection.py), is replaced and trains again (rejoin.py), or is missed by the quorum.
"""

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_component import FLComponent
from nvflare.apis.fl_constant import ServerCommandNames
from nvflare.apis.fl_context import FLContext
from nvflare.fuel.f3.streaming.stream_const import StreamHeaderKey
from nvflare.fuel.utils.fobs import FOBSContextKey
from nvflare.fuel.utils.fobs.decomposers.via_downloader import ViaDownloaderDecomposer


class UpdateLost(BaseException):
    """No `Exception`: NVFlare takes every one of those for the end of the run. It ends the thread that fetches, and nothing else."""


class LostUpdate(FLComponent):
    def handle_event(self, event_type: str, fl_ctx: FLContext):
        if event_type == EventType.START_RUN:
            self._guard()

    def _guard(self) -> None:
        fetch = ViaDownloaderDecomposer._download_from_remote_cell
        logger = self.logger

        def fetch_or_drop(decomposer, fobs_ctx: dict, ref: dict):
            try:
                return fetch(decomposer, fobs_ctx, ref)
            except RuntimeError as error:
                message = fobs_ctx.get(FOBSContextKey.MESSAGE)
                if message is None or message.get_header(StreamHeaderKey.TOPIC) != ServerCommandNames.SUBMIT_UPDATE:
                    raise
                logger.warning(f"an update is dropped: {error}")
                raise UpdateLost from error

        ViaDownloaderDecomposer._download_from_remote_cell = fetch_or_drop
