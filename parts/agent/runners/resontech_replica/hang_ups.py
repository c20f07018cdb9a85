"""Who hangs up frees the engine at once: one thread sees the end of every caller's connection, whatever the callers' own threads wait for."""

import contextlib
import select
import socket
import threading
from dataclasses import dataclass, field
from typing import Iterator


class HangUps:
    def __init__(self):
        self._epoll = select.epoll()
        self._cuts: dict[int, _Cuts] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, name="hang-ups", daemon=True).start()

    @contextlib.contextmanager
    def cut(self, engine: socket.socket, caller: socket.socket) -> Iterator[None]:
        """While it lasts the caller's end is the engine connection's end. A caller may have several, for each of its answers one."""
        fd = caller.fileno()
        with self._lock:
            cuts = self._cuts.get(fd)
            if cuts is None:
                cuts = self._cuts[fd] = _Cuts()
                self._epoll.register(fd, select.EPOLLRDHUP | select.EPOLLONESHOT)
            cuts.engines.add(engine)
            if cuts.is_gone:
                _shut(engine)
        try:
            yield
        finally:
            with self._lock:
                cuts.engines.discard(engine)
                if not cuts.engines:
                    del self._cuts[fd]
                    self._epoll.unregister(fd)

    def _watch(self) -> None:
        while True:
            for fd, _ in self._epoll.poll():
                with self._lock:
                    cuts = self._cuts.get(fd)
                    if cuts is not None:
                        cuts.is_gone = True
                        for engine in cuts.engines:
                            _shut(engine)


@dataclass
class _Cuts:
    engines: set[socket.socket] = field(default_factory=set)
    is_gone: bool = False


def _shut(engine: socket.socket) -> None:
    """The thread that reads from it sees the end. It may have ended by itself."""
    with contextlib.suppress(OSError):
        engine.shutdown(socket.SHUT_RDWR)
