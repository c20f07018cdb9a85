"""In a client's job process: requests that were under way when the connection to the server broke fail at once, and NVFlare sends them again.

NVFlare 2.9.0 dials again within a second, but lets a request whose bytes or answer were lost wait for its own time limit, 300 s for tasks and results
(private/fed/client/communicator.py). `streaming_reliable` would send the bytes again; it keeps a thread for each message for a minute
(fuel/f3/streaming/byte_receiver.py `_schedule_remove_task`), which ends in "can't start new thread".
"""

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_component import FLComponent
from nvflare.apis.fl_context import FLContext
from nvflare.fuel.f3.cellnet.defs import ReturnCode
from nvflare.fuel.f3.cellnet.fqcn import FQCN
from nvflare.fuel.f3.cellnet.utils import make_reply
from nvflare.fuel.f3.streaming.byte_streamer import ByteStreamer
from nvflare.fuel.f3.streaming.stream_types import StreamError

_ERROR = "the connection broke"


class LostConnection(FLComponent):
    def handle_event(self, event_type: str, fl_ctx: FLContext):
        if event_type == EventType.START_RUN:
            cell = fl_ctx.get_engine().get_cell()
            cell.core_cell.set_cell_disconnected_cb(self._on_disconnected, cell)

    def _on_disconnected(self, agent, cell) -> None:
        root = FQCN.get_root(agent.get_fqcn())
        if root != FQCN.ROOT_SERVER:
            return
        sent = [task for task in list(ByteStreamer.tx_task_map.values()) if FQCN.get_root(task.target) == root]
        for task in sent:
            task.stop(StreamError(_ERROR), notify=False)
        waiting = [waiter for waiter in list(cell.requests_dict.values()) if FQCN.get_root(waiter.target) == root]
        for waiter in waiting:
            _fail(waiter)
        self.logger.info(f"the connection to the server broke: {len(waiting)} requests are sent again")


def _fail(waiter) -> None:
    waiter.result = make_reply(ReturnCode.COMM_ERROR, error=_ERROR)
    future = waiter.receiving_future
    if future is None:
        waiter.stream_error = _ERROR
        waiter.in_receiving.set()
    else:
        # The answer was coming.
        future.cancel()
