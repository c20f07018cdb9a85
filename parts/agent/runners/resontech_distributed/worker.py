"""A member with ranks: joins the meeting point, takes what was committed last, runs torchrun, and brings what rank 0 leaves."""

import asyncio
import contextlib
import os
from pathlib import Path
from typing import Any, Optional

from resontech_runner.environment import cpu_quota
from resontech_runner.events import FailureReserve, LineLog
from resontech_runner.exit_code import DONE, FAILED, STOP_GRACE_S, STOPPED
from resontech_runner.memory_limit import oom_kills

from .checkpoints import name_of, settled_checkpoint
from .launch import Launch, command_of, environment_of
from .layout import Layout
from .rank_end import cause_of
from .relay import Relay
from .spec import DistributedSpec
from .verdict import Break
from .wire import BLOCK, YES, Side, break_off, dial, line_of, read_line

_RETRY_S = 0.1
_LOOK_S = 0.3
_BRING_AGAIN_S = 10.0
"""After a checkpoint that was not taken: a large one, sent again and again, would take from the training what it trains with."""
_WORD_S = 180.0
"""For whoever is to blame, and then for the kernel: it ends the attempt long before."""


class Parted(Exception):
    """The meeting point is not heard any more."""


class Worker:
    def __init__(self, spec: DistributedSpec, layout: Layout, stop: asyncio.Event):
        assert spec.index is not None
        self._spec = spec
        self._index = spec.index
        self._layout = layout
        self._stop = stop
        self._reserve = FailureReserve(layout.events)
        self._events = LineLog(layout.events)
        self._relay = Relay(spec)
        self._launch = Launch()
        self._committed = spec.resumes_after
        self._words: asyncio.Queue[Optional[dict[str, Any]]] = asyncio.Queue()
        self._bring_again_at = 0.0
        self._verdict: Optional[int] = None
        """Who is to blame, once the meeting point has said so."""
        self._oom_before = oom_kills()

    async def run(self) -> int:
        work = asyncio.create_task(self._work())
        stopped = asyncio.create_task(self._stop.wait())
        await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        await self._launch.end(STOP_GRACE_S)
        return STOPPED

    async def _work(self) -> int:
        self._layout.checkpoints.mkdir(parents=True, exist_ok=True)
        control = await self._join()
        if self._spec.resumes_after is not None:
            await self._fetch(self._spec.resumes_after)
        self._relay.listen()
        hearing = asyncio.create_task(self._hear(control[0]))
        self._events.append("ready")
        # Who starts before the master's store is there would be let in and thrown out again.
        while self._index != 0 and not await self._relay.reaches(self._spec.ports.of(0)[0]):
            await asyncio.sleep(_RETRY_S)
        try:
            return await self._train(control)
        except Parted:
            return self._fail("federation_failed", f"{self._spec.site}: the meeting point of the job was lost", self._launch.tail)
        finally:
            hearing.cancel()
            self._relay.close()

    async def _train(self, control: Side) -> int:
        environment = environment_of(self._layout, max(1, cpu_quota() // self._spec.ranks_each))
        training = asyncio.create_task(self._launch.run(command_of(self._spec), environment))
        word = asyncio.create_task(self._words.get())
        while not training.done():
            await asyncio.wait({training, word}, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
            if word.done():
                if word.result() is None:
                    await self._launch.end(STOP_GRACE_S)
                    raise Parted
                # Another member broke: its word is the cause, and the kernel ends this one.
                word = asyncio.create_task(self._words.get())
            await self._bring()
        word.cancel()
        code = training.result()
        if code != 0 or oom_kills() > self._oom_before:
            return await self._broken(control, code)
        self._bring_again_at = 0.0
        await self._bring()
        await self._bring_outputs()
        await self._say(control, line_of("done"))
        while (said := await self._words.get()) is not None:
            if said["kind"] == "over":
                self._events.append("finished")
                return DONE
        raise Parted

    async def _broken(self, control: Side, code: int) -> int:
        spec = self._spec
        cause = cause_of(self._index, spec.site, code, self._launch.tail, list(self._launch.tracebacks.found), oom_kills() > self._oom_before)
        await self._say(
            control, line_of("broke", how=cause.how, reason=cause.reason, message=cause.message[:2000], detail=(cause.detail or "")[-8000:])
        )
        blamed = await self._blamed()
        if blamed != self._index:
            # Whose fault it was says so; the kernel ends the attempt, and this member with it.
            await asyncio.sleep(_WORD_S)
            return self._fail("federation_failed", cause.message, cause.detail)
        return self._fail_as(cause)

    async def _blamed(self) -> int:
        """Where the meeting point is lost as well, each tells its own cause."""
        while self._verdict is None:
            if await self._words.get() is None:
                return self._index
        return self._verdict

    def _fail_as(self, cause: Break) -> int:
        return self._fail(cause.reason, cause.message, cause.detail)

    def _fail(self, reason: str, message: str, detail: Optional[str]) -> int:
        self._reserve.release()
        more = {} if not detail else {"detail": detail}
        self._events.append("failed", reason=reason, message=message, **more)
        return FAILED

    async def _join(self) -> Side:
        while True:
            try:
                return await dial(self._spec.server_name, self._spec.server_port, line_of("join", index=self._index))
            except OSError:
                await asyncio.sleep(_RETRY_S)

    async def _hear(self, reader: asyncio.StreamReader) -> None:
        while (said := await read_line(reader)) is not None:
            if said["kind"] == "call":
                self._relay.answer(int(said["call"]), int(said["port"]))
            else:
                if said["kind"] == "verdict" and isinstance(said.get("blamed"), int):
                    self._verdict = said["blamed"]
                self._words.put_nowait(said)
        self._words.put_nowait(None)

    async def _say(self, control: Side, line: bytes) -> None:
        with contextlib.suppress(OSError):
            control[1].write(line)
            await control[1].drain()

    async def _fetch(self, step: int) -> None:
        """What was committed last, to where the script looks for it."""
        file = self._layout.checkpoints / name_of(step)
        reader, writer = await dial(self._spec.server_name, self._spec.server_port, line_of("resume"))
        try:
            said = await read_line(reader)
            if said is None or said["kind"] != "file":
                raise Parted
            left = int(said["size"])
            fresh = file.with_name(f".{file.name}")
            with open(fresh, "wb") as into:
                while left > 0:
                    block = await reader.read(min(BLOCK, left))
                    if not block:
                        raise Parted
                    into.write(block)
                    left -= len(block)
            fresh.rename(file)
        finally:
            break_off(writer)

    async def _bring(self) -> None:
        """A checkpoint that rank 0 has closed goes to the meeting point, whose agent commits it."""
        if self._index != 0 or asyncio.get_running_loop().time() < self._bring_again_at:
            return
        found = await asyncio.to_thread(settled_checkpoint, self._layout.checkpoints, self._committed)
        if found is None:
            return
        step, file = found
        header = line_of("checkpoint", step=step, size=file.path.stat().st_size, sha256=file.sha256)
        if await self._send(file.path, header):
            self._committed = step
            return
        self._bring_again_at = asyncio.get_running_loop().time() + _BRING_AGAIN_S
        text = f"step {step} is not committed: the meeting point did not take it; its log says why"
        self._events.append("warning", site=self._spec.site, topic="checkpoint-not-kept", text=text)

    async def _bring_outputs(self) -> None:
        """What rank 0 wrote for the user: the meeting point's agent stores it before the job has succeeded."""
        if self._index != 0:
            return
        for file in sorted(plain_files(self._layout.out)):
            header = line_of("output", path=str(file.relative_to(self._layout.out)), size=file.stat().st_size)
            if not await self._send(file, header):
                raise Parted

    async def _send(self, file: Path, header: bytes) -> bool:
        """True once the meeting point has it whole."""
        try:
            reader, writer = await dial(self._spec.server_name, self._spec.server_port, header)
        except OSError:
            return False
        try:
            with open(file, "rb") as source:
                while block := await asyncio.to_thread(source.read, BLOCK):
                    writer.write(block)
                    await writer.drain()
            return await reader.read(1) == YES
        except OSError:
            return False
        finally:
            break_off(writer)


def plain_files(folder: Path) -> list[Path]:
    """All below it that no link leads to."""
    return [
        file
        for at, _, names in os.walk(folder)
        for file in (Path(at, name) for name in names)
        if file.is_file() and not file.is_symlink()
    ]
