"""
The meeting point: the member without ranks, which all others reach and which decides the attempt. It leads connections between ranks, keeps the
newest checkpoint for its agent to commit, and says who is to blame where several members broke.
"""

import asyncio
import contextlib
import hashlib
import shutil
from pathlib import Path
from typing import Any, Optional

from resontech_runner.events import FailureReserve, LineLog, is_disk_full
from resontech_runner.exit_code import DONE, FAILED, STOPPED

from .checkpoints import name_of
from .layout import Layout
from .spec import DistributedSpec
from .verdict import Break, blamed, break_of
from .wire import BLOCK, YES, Side, break_off, line_of, read_line, splice, without_delay

_LINE_LIMIT = 64 * 1024
_ANSWER_S = 10.0
_HEAR_OTHERS_S = 2.0
"""After the first word of a break: peers that were taken along tell theirs within it."""
_HEAR_CAUSE_S = 30.0
_KERNEL_S = 180.0
"""For the kernel to end an attempt whose blamed member can't say so itself."""
_KEPT = 2
MODEL_NAME = "checkpoint.pt"


class Meeting:
    def __init__(self, spec: DistributedSpec, layout: Layout, stop: asyncio.Event):
        self._spec = spec
        self._layout = layout
        self._stop = stop
        self._reserve = FailureReserve(layout.events)
        self._events = LineLog(layout.events)
        self._controls: dict[int, asyncio.StreamWriter] = {}
        self._done: set[int] = set()
        self._breaks: list[Break] = []
        self._broke = asyncio.Event()
        self._over = asyncio.Event()
        self._calls: dict[int, asyncio.Future[Optional[Side]]] = {}
        self._next_call = 0
        self._files: list[tuple[int, Path, str]] = []

    async def run(self) -> int:
        self._layout.checkpoints.mkdir(parents=True, exist_ok=True)
        server = await asyncio.start_server(self._take, self._layout.listen, self._spec.server_port, limit=_LINE_LIMIT, backlog=512)
        self._events.append("ready")
        waits = [asyncio.create_task(event.wait()) for event in (self._stop, self._over, self._broke)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if self._stop.is_set():
                return STOPPED
            return await self._finish() if self._over.is_set() else await self._judge()
        finally:
            server.close()

    async def _finish(self) -> int:
        for writer in self._controls.values():
            await _say(writer, line_of("over"))
        model = {}
        self._keep_resumed()
        if self._files:
            _, file, sha256 = self._files[-1]
            model = {"modelFile": str(file), "modelName": MODEL_NAME, "modelSha256": sha256}
        self._events.append("finished", **model)
        return DONE

    def _keep_resumed(self) -> None:
        """Where the attempt had nothing left to do, the model is what it went on from."""
        step = self._spec.resumes_after
        if step is None or self._files:
            return
        file = self._layout.checkpoints / name_of(step)
        shutil.copyfile(self._layout.resume, file)
        with open(file, "rb") as source:
            self._files.append((step, file, hashlib.file_digest(source, "sha256").hexdigest()))

    async def _judge(self) -> int:
        await self._unless_stopped(_HEAR_OTHERS_S)
        waited = _HEAR_OTHERS_S
        # The loss of another has a cause elsewhere, which its member may tell later: torchrun takes seconds to end.
        while blamed(self._breaks).how == "parted" and waited < _HEAR_CAUSE_S and not self._stop.is_set() and not self._all_told():
            await self._unless_stopped(_HEAR_OTHERS_S)
            waited += _HEAR_OTHERS_S
        cause = blamed(self._breaks)
        for writer in self._controls.values():
            await _say(writer, line_of("verdict", blamed=cause.index))
        await self._unless_stopped(_KERNEL_S)
        if self._stop.is_set():
            return STOPPED
        self._reserve.release()
        self._events.append("failed", reason=cause.reason, message=cause.message)
        return FAILED

    def _all_told(self) -> bool:
        return len({one.index for one in self._breaks} | self._done) == self._spec.members

    async def _unless_stopped(self, seconds: float) -> None:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        without_delay(writer)
        said = await read_line(reader)
        try:
            if said is not None:
                await self._serve(said, (reader, writer))
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"a connection was given up: {error!r}", flush=True)
            if is_disk_full(error):
                print("the meeting point's disk is full: this checkpoint is not kept", flush=True)
        except asyncio.CancelledError:
            # The loop ends, and the connection with it: asyncio would write each of them into the log.
            pass
        finally:
            break_off(writer)

    async def _serve(self, said: dict[str, Any], side: Side) -> None:
        match said["kind"]:
            case "join":
                await self._follow(int(said["index"]), side)
            case "call":
                await self._lead(int(said["port"]), side)
            case "answer":
                await self._answered(int(said["call"]), side)
            case "refuse":
                self._settle(int(said["call"]), None)
            case "checkpoint":
                await self._keep(int(said["step"]), int(said["size"]), str(said["sha256"]), side)
            case "output":
                await self._keep_output(str(said["path"]), int(said["size"]), side)
            case "resume":
                await self._give(side)

    async def _follow(self, index: int, side: Side) -> None:
        if not 0 <= index < self._spec.members or index in self._controls:
            return
        self._controls[index] = side[1]
        while (said := await read_line(side[0])) is not None:
            if said["kind"] == "done":
                self._done.add(index)
                if len(self._done) == self._spec.members:
                    self._over.set()
            elif said["kind"] == "broke":
                self._tell(break_of(index, said))
        if index not in self._done and not any(one.index == index for one in self._breaks):
            self._tell(Break(index, "lost", "federation_failed", f"worker-{index + 1} was not heard any more"))

    def _tell(self, one: Break) -> None:
        self._breaks.append(one)
        self._broke.set()

    async def _lead(self, port: int, side: Side) -> None:
        owner = self._spec.ports.owner(port, self._spec.members)
        control = None if owner is None else self._controls.get(owner)
        if control is None:
            return
        call = self._next_call
        self._next_call += 1
        answer: asyncio.Future[Optional[Side]] = asyncio.get_running_loop().create_future()
        self._calls[call] = answer
        try:
            await _say(control, line_of("call", call=call, port=port))
            far = await asyncio.wait_for(answer, _ANSWER_S)
        except asyncio.TimeoutError:
            return
        finally:
            self._calls.pop(call, None)
        if far is None:
            return
        side[1].write(YES)
        await side[1].drain()
        await splice(side, far)

    async def _answered(self, call: int, side: Side) -> None:
        if self._settle(call, side):
            # Whoever called copies both ways, and closes it.
            await side[1].wait_closed()

    def _settle(self, call: int, side: Optional[Side]) -> bool:
        answer = self._calls.get(call)
        if answer is None or answer.done():
            return False
        answer.set_result(side)
        return True

    async def _keep(self, step: int, size: int, sha256: str, side: Side) -> None:
        file = self._layout.checkpoints / name_of(step)
        if await _receive(side, file, size) != sha256:
            file.unlink(missing_ok=True)
            return
        self._files.append((step, file, sha256))
        for _, old, _ in self._files[:-_KEPT]:
            old.unlink(missing_ok=True)
        self._files = self._files[-_KEPT:]
        self._events.append("round-model", round=step, file=str(file), sha256=sha256)
        side[1].write(YES)
        await side[1].drain()

    async def _keep_output(self, path: str, size: int, side: Side) -> None:
        """Of rank 0: the job's outputs are what the member leaves that decides the attempt."""
        file = self._layout.out / path
        if not is_below(path):
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        if await _receive(side, file, size) is not None:
            side[1].write(YES)
            await side[1].drain()

    async def _give(self, side: Side) -> None:
        with open(self._layout.resume, "rb") as source:
            size = self._layout.resume.stat().st_size
            side[1].write(line_of("file", size=size))
            while block := source.read(BLOCK):
                side[1].write(block)
                await side[1].drain()


async def _receive(side: Side, file: Path, size: int) -> Optional[str]:
    """Its SHA-256 once it is there whole; None where the connection ended before."""
    fresh = file.with_name(f".{file.name}")
    digest = hashlib.sha256()
    left = size
    try:
        with open(fresh, "wb") as into:
            while left > 0 and (block := await side[0].read(min(BLOCK, left))):
                digest.update(block)
                into.write(block)
                left -= len(block)
        if left > 0:
            return None
        fresh.rename(file)
        return digest.hexdigest()
    finally:
        fresh.unlink(missing_ok=True)


def is_below(path: str) -> bool:
    """Whether a path stays in the folder that it is relative to."""
    parts = path.split("/")
    return path != "" and not any(part in ("", ".", "..") or "\0" in part for part in parts)


async def _say(writer: asyncio.StreamWriter, line: bytes) -> None:
    with contextlib.suppress(OSError):
        writer.write(line)
        await writer.drain()
