"""A connection between two nodes. At SIGUSR1 it loses what comes, either way, and half a second later it breaks; new ones are good.

usage: lossy_link.py LISTEN_PORT SERVER_PORT BYTES_PER_S; says `up` once it listens.
"""

import contextlib
import signal
import socket
import sys
import threading
import time

LOSES_S = 0.5

ends: list[socket.socket] = []
is_losing = threading.Event()


def cut(*_) -> None:
    is_losing.set()
    time.sleep(LOSES_S)
    for end in ends:
        hang_up(end)
    ends.clear()
    is_losing.clear()


def carry(source: socket.socket, target: socket.socket, bytes_per_s: int) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            if not is_losing.is_set():
                target.sendall(data)
                time.sleep(len(data) / bytes_per_s)
    hang_up(source)
    hang_up(target)


def hang_up(end: socket.socket) -> None:
    """Closed under the other direction's `recv`, a socket would stay open until something comes."""
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


def welcome(door: socket.socket, server_port: int, bytes_per_s: int) -> None:
    while True:
        near, _ = door.accept()
        try:
            far = socket.create_connection(("127.0.0.1", server_port))
        except OSError:
            near.close()
            continue
        ends.extend((near, far))
        for pair in ((near, far), (far, near)):
            threading.Thread(target=carry, args=(*pair, bytes_per_s), daemon=True).start()


signal.signal(signal.SIGUSR1, cut)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
threading.Thread(target=welcome, args=(listener, int(sys.argv[2]), int(sys.argv[3])), daemon=True).start()
print("up", flush=True)
while True:
    signal.pause()
