"""A connection between two nodes. At SIGUSR1 it loses what comes, either way, and half a second later it breaks; new ones are good.

usage: lossy_link.py LISTEN_PORT SERVER_PORT BYTES_PER_S CARRIED_FILE; says `up` once it listens. CARRIED_FILE holds how many bytes it has
given to the server, as 20 digits.
"""

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from typing import Callable

LOSES_S = 0.5

ends: list[socket.socket] = []
is_losing = threading.Event()


class Carried:
    """Written in place, so that a reader sees a whole number at any time."""

    def __init__(self, path: str):
        self._file = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
        self._lock = threading.Lock()
        self._bytes = 0
        self.add(0)

    def add(self, count: int) -> None:
        with self._lock:
            self._bytes += count
            os.pwrite(self._file, b"%020d" % self._bytes, 0)


def cut(*_) -> None:
    is_losing.set()
    time.sleep(LOSES_S)
    for end in ends:
        hang_up(end)
    ends.clear()
    is_losing.clear()


def carry(source: socket.socket, target: socket.socket, bytes_per_s: int, count: Callable[[int], None]) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            if not is_losing.is_set():
                target.sendall(data)
                count(len(data))
                time.sleep(len(data) / bytes_per_s)
    hang_up(source)
    hang_up(target)


def hang_up(end: socket.socket) -> None:
    """Closed under the other direction's `recv`, a socket would stay open until something comes."""
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


def welcome(door: socket.socket, server_port: int, bytes_per_s: int, carried: Carried) -> None:
    while True:
        near, _ = door.accept()
        try:
            far = socket.create_connection(("127.0.0.1", server_port))
        except OSError:
            near.close()
            continue
        ends.extend((near, far))
        for source, target, count in ((near, far, carried.add), (far, near, lambda _: None)):
            threading.Thread(target=carry, args=(source, target, bytes_per_s, count), daemon=True).start()


signal.signal(signal.SIGUSR1, cut)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
threading.Thread(target=welcome, args=(listener, int(sys.argv[2]), int(sys.argv[3]), Carried(sys.argv[4])), daemon=True).start()
print("up", flush=True)
while True:
    signal.pause()
