"""A connection between two nodes. At SIGUSR1 it loses what comes, either way, and half a second later it breaks; new ones are good.

usage: lossy_link.py LISTEN_PORT SERVER_PORT; says `up` once it listens.
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
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
    ends.clear()
    is_losing.clear()


def carry(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            if not is_losing.is_set():
                target.sendall(data)
    source.close()
    target.close()


def welcome(door: socket.socket, server_port: int) -> None:
    while True:
        near, _ = door.accept()
        try:
            far = socket.create_connection(("127.0.0.1", server_port))
        except OSError:
            near.close()
            continue
        ends.extend((near, far))
        for pair in ((near, far), (far, near)):
            threading.Thread(target=carry, args=pair, daemon=True).start()


signal.signal(signal.SIGUSR1, cut)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
threading.Thread(target=welcome, args=(listener, int(sys.argv[2])), daemon=True).start()
print("up", flush=True)
while True:
    signal.pause()
