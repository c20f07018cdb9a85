"""
A member's end of the connections between ranks. Ranks know all addresses as 127.0.0.1: the port says whose it is. Here all ports of the other
members are listened on, and each connection is led to its member over the meeting point, which is the only one that all reach.
"""

import asyncio
import contextlib
import socket

from .spec import DistributedSpec
from .wire import YES, break_off, dial, line_of, splice, without_delay

_BACKLOG = 128
_HOST = "127.0.0.1"


class Relay:
    def __init__(self, spec: DistributedSpec):
        self._spec = spec
        self._sockets: list[socket.socket] = []
        self._running: set[asyncio.Task] = set()

    def listen(self) -> None:
        loop = asyncio.get_running_loop()
        for index in range(self._spec.members):
            for port in self._spec.ports.of(index) if index != self._spec.index else ():
                one = socket.socket()
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                one.bind((_HOST, port))
                one.listen(_BACKLOG)
                one.setblocking(False)
                self._sockets.append(one)
                loop.add_reader(one, self._accept, one, port)

    def answer(self, call: int, port: int) -> None:
        """Somebody calls a port of this member's ranks."""
        self._start(self._answer(call, port))

    async def reaches(self, port: int) -> bool:
        """Whether somebody listens at another member's port."""
        try:
            reader, writer = await self._call(port)
        except OSError:
            return False
        try:
            return await reader.read(1) == YES
        except OSError:
            return False
        finally:
            break_off(writer)

    def close(self) -> None:
        loop = asyncio.get_running_loop()
        for one in self._sockets:
            loop.remove_reader(one)
            one.close()
        for task in self._running:
            task.cancel()

    def _start(self, what) -> None:
        task = asyncio.create_task(what)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _accept(self, listening: socket.socket, port: int) -> None:
        with contextlib.suppress(OSError):
            near, _ = listening.accept()
            self._start(self._lead(near, port))

    async def _lead(self, near: socket.socket, port: int) -> None:
        reader, writer = await asyncio.open_connection(sock=near)
        without_delay(writer)
        try:
            far = await self._call(port)
        except OSError:
            break_off(writer)
            return
        try:
            is_reached = await far[0].read(1) == YES
        except OSError:
            is_reached = False
        if not is_reached:
            break_off(writer)
            break_off(far[1])
            return
        await splice((reader, writer), far)

    async def _call(self, port: int):
        return await dial(self._spec.server_name, self._spec.server_port, line_of("call", port=port))

    async def _answer(self, call: int, port: int) -> None:
        name, server_port = self._spec.server_name, self._spec.server_port
        try:
            near = await asyncio.open_connection(_HOST, port)
        except OSError:
            with contextlib.suppress(OSError):
                _, writer = await dial(name, server_port, line_of("refuse", call=call))
                break_off(writer)
            return
        without_delay(near[1])
        try:
            far = await dial(name, server_port, line_of("answer", call=call))
        except OSError:
            break_off(near[1])
            return
        await splice(near, far)
