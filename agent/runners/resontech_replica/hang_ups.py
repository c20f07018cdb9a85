"""Who hangs up frees the engine at once: one thread sees the end of every caller's connection, whatever the callers' own threads wait for."""

import contextlib
import select
import socket
import threading
from typing import Iterator


class HangUps:
    def __init__(self):
        self._epoll = select.epoll()
        self._engines: dict[int, socket.socket] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, name="hang-ups", daemon=True).start()

    @contextlib.contextmanager
    def cut(self, engine: socket.socket, caller: socket.socket) -> Iterator[None]:
        """While it lasts the caller's end is the engine connection's end."""
        fd = caller.fileno()
        with self._lock:
            self._engines[fd] = engine
            self._epoll.register(fd, select.EPOLLRDHUP | select.EPOLLONESHOT)
        try:
            yield
        finally:
            with self._lock:
                del self._engines[fd]
                self._epoll.unregister(fd)

    def _watch(self) -> None:
        while True:
            for fd, _ in self._epoll.poll():
                with self._lock:
                    engine = self._engines.get(fd)
                    if engine is not None:
                        # The thread that reads from it sees the end. It may have ended by itself.
                        with contextlib.suppress(OSError):
                            engine.shutdown(socket.SHUT_RDWR)
