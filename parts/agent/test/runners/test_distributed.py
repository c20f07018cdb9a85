"""What members of a distributed training decide: runs with any Python 3.11."""

import asyncio
import hashlib
import json
import os
import socket
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runners"))

from resontech_distributed.checkpoints import newest_checkpoint, settled_checkpoint
from resontech_distributed.launch import Launch, command_of
from resontech_distributed.layout import Layout
from resontech_distributed.meeting import Meeting, is_below
from resontech_distributed.rank_end import cause_of
from resontech_distributed.relay import Relay
from resontech_distributed.spec import DistributedSpec, Ports
from resontech_distributed.verdict import Break, blamed, break_of, is_parted
from resontech_distributed.wire import dial, line_of
from resontech_distributed.worker import plain_files

GLOO = "RuntimeError: [gloo/transport/tcp/pair.cc:561] Connection closed by peer [127.0.0.1]:25678. This is typically caused by a remote worker crashing."
SUMMARY = """============================================================
train.py FAILED
Root Cause (first observed failure):
[0]:
  time      : 2026-11-30_22:48:43
  rank      : {rank} (local_rank: 0)
  exitcode  : {code} (pid: 22060)
============================================================"""


def traceback_of(raised: str) -> str:
    return f'Traceback (most recent call last):\n  File "/rt/job/scripts/train.py", line 18, in <module>\n    work()\n{raised}'


def spec_of(index, port=8003, first=20_000, each=4, name="127.0.0.1") -> DistributedSpec:
    return DistributedSpec("worker-1", index, 2, 1, name, port, Ports(first, each), "/rt/job/scripts/train.py", ("--epochs=3",), None)


class Ends(unittest.TestCase):
    def cause(self, code=1, tail="", raised=(), out_of_memory=False):
        return cause_of(1, "worker-2", code, tail, [traceback_of(one) for one in raised], out_of_memory)

    def test_a_rank_that_was_killed_is_no_fault_of_the_script(self):
        cause = self.cause(tail=SUMMARY.format(rank=1, code=-9))
        self.assertEqual((cause.how, cause.reason), ("killed", "container_failed"))
        self.assertEqual(cause.message, "worker-2: rank 1 was ended by signal 9 (SIGKILL)")

    def test_an_exception_of_the_script_is_told_with_its_words(self):
        cause = self.cause(tail=SUMMARY.format(rank=1, code=1), raised=["ValueError: a label is missing"])
        self.assertEqual((cause.how, cause.reason), ("raised", "user_exception"))
        self.assertEqual(cause.message, "worker-2: ValueError: a label is missing")

    def test_a_json_error_of_the_script_is_no_configuration(self):
        self.assertEqual(self.cause(raised=["json.decoder.JSONDecodeError: Expecting value"]).reason, "user_exception")

    def test_a_rank_that_lost_its_peers_is_not_to_blame(self):
        cause = self.cause(tail=SUMMARY.format(rank=0, code=1), raised=[GLOO])
        self.assertEqual((cause.how, cause.reason), ("parted", "federation_failed"))

    def test_the_scripts_own_exception_counts_before_what_it_led_to(self):
        cause = self.cause(raised=[GLOO, "ValueError: a label is missing"])
        self.assertEqual(cause.how, "raised")

    def test_an_exit_code_without_an_exception_is_named(self):
        cause = self.cause(tail=SUMMARY.format(rank=1, code=3))
        self.assertEqual((cause.reason, cause.message), ("payload_exited", "worker-2: rank 1 ended early with exit code 3"))

    def test_memory_counts_before_the_signal_that_ended_the_rank(self):
        self.assertEqual(self.cause(tail=SUMMARY.format(rank=1, code=-9), out_of_memory=True).reason, "out_of_memory")

    def test_exceptions_of_a_script_are_not_taken_for_a_lost_peer(self):
        for raised in ("ValueError: gloo", "RuntimeError: mat1 and mat2 shapes cannot be multiplied", "KeyError: 'store'"):
            self.assertFalse(is_parted(raised), raised)
        for raised in (GLOO, "torch.distributed.DistNetworkError: Connection reset by peer", "RuntimeError: NCCL error"):
            self.assertTrue(is_parted(raised), raised)


class Verdicts(unittest.TestCase):
    def test_who_was_taken_along_is_blamed_by_nobody_else_alone(self):
        parted, raised = Break(0, "parted", "federation_failed", ""), Break(1, "raised", "user_exception", "")
        self.assertEqual(blamed([parted, raised]).index, 1)
        self.assertEqual(blamed([parted]).index, 0)
        lost, killed = Break(2, "lost", "federation_failed", ""), Break(3, "killed", "container_failed", "")
        self.assertEqual(blamed([parted, lost, raised]).index, 1)
        self.assertEqual(blamed([lost, parted]).index, 2)
        self.assertEqual(blamed([raised, killed]).index, 3)

    def test_what_the_jobs_own_code_could_say_is_taken_for_little(self):
        self.assertEqual(break_of(1, {"kind": "broke", "how": 7}).how, "parted")


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_the_checkpoint_of_the_last_step_by_number(self):
        for name in ("step-9.pt", "step-10.pt", "step-11.pt.part", "best.pt", "step-x.pt"):
            (self.folder / name).write_bytes(b"w")
        os.symlink("/etc/passwd", self.folder / "step-99.pt")
        self.assertEqual(newest_checkpoint(self.folder, None), (10, self.folder / "step-10.pt"))
        self.assertIsNone(newest_checkpoint(self.folder, 10))

    def test_one_that_is_still_written_waits(self):
        with open(self.folder / "step-1.pt", "wb") as writing:
            writing.write(b"half")
            writing.flush()
            self.assertIsNone(settled_checkpoint(self.folder, None))
        self.assertEqual(settled_checkpoint(self.folder, None)[0], 1)

    def test_outputs_are_plain_files_that_no_link_leads_to(self):
        (self.folder / "deep").mkdir()
        (self.folder / "deep" / "a.txt").write_text("a")
        os.symlink("/etc", self.folder / "etc")
        os.symlink("/etc/passwd", self.folder / "passwd")
        self.assertEqual(plain_files(self.folder), [self.folder / "deep" / "a.txt"])

    def test_a_path_that_climbs_is_none(self):
        for path in ("../x", "/etc/x", "a//b", "", "a/../../b"):
            self.assertFalse(is_below(path), path)
        self.assertTrue(is_below("deep/a.txt"))


class Launches(unittest.TestCase):
    def test_the_kernel_alone_starts_again(self):
        command = command_of(spec_of(1))
        self.assertIn("--max-restarts=0", command)
        self.assertIn("--node-rank=1", command)
        self.assertEqual(command[-2:], ["/rt/job/scripts/train.py", "--epochs=3"])

    def test_a_line_of_torchruns_log_ends_an_exceptions_message(self):
        launch = Launch()
        for line in traceback_of("ValueError: a label is missing").split("\n"):
            launch._take(f"[rank1]: {line}\n".encode())
        launch._take(b"E1130 22:50:59.710000 28358 torch/distributed/elastic/multiprocessing/api.py:1002] failed\n")
        self.assertTrue(launch.tracebacks.found[-1].endswith("\nValueError: a label is missing"))


def free_ports(count: int) -> int:
    """The first of so many that nobody has now."""
    for first in range(20_000, 32_000, count):
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", first))
                return first
            except OSError:
                continue
    raise AssertionError("no port is free")


class Relays(unittest.IsolatedAsyncioTestCase):
    """Both members on this host: the first one's ranks listen by themselves, the second's are led to."""

    async def asyncSetUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        (root / "events").mkdir()
        self.layout = Layout(events=root / "events" / "events.jsonl", checkpoints=root / "ck", out=root / "out", listen="127.0.0.1")
        first = free_ports(16)
        self.port = first + 12
        self.spec = spec_of(None, self.port, first)
        self.stop = asyncio.Event()
        self.meeting = asyncio.create_task(Meeting(self.spec, self.layout, self.stop).run())
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                break
            except OSError:
                await asyncio.sleep(0.02)

    async def asyncTearDown(self):
        self.stop.set()
        self.assertEqual(await self.meeting, 143)

    async def join(self, index: int):
        relay = Relay(spec_of(index, self.port, self.spec.ports.first))
        reader, writer = await dial("127.0.0.1", self.port, line_of("join", index=index))

        async def follow():
            from resontech_distributed.wire import read_line

            while (said := await read_line(reader)) is not None:
                if said["kind"] == "call":
                    relay.answer(said["call"], said["port"])

        following = asyncio.create_task(follow())
        self.addCleanup(following.cancel)
        self.addCleanup(writer.close)
        return relay

    async def test_a_connection_to_another_members_port_is_led_there_with_its_end(self):
        async def echo(reader, writer):
            while block := await reader.read(65536):
                writer.write(block)
                await writer.drain()
            writer.close()

        await self.join(1)
        caller = await self.join(0)
        port = self.spec.ports.of(1)[2]
        async with await asyncio.start_server(echo, "127.0.0.1", port):
            reader, writer = await caller._call(port)
            self.assertEqual(await reader.readexactly(1), b"\x01")
            sent = os.urandom(3_000_000)

            async def send():
                writer.write(sent)
                await writer.drain()
                writer.write_eof()

            _, heard = await asyncio.gather(send(), reader.read(-1))
            self.assertEqual(heard, sent)
        self.assertFalse(await caller.reaches(self.spec.ports.of(1)[3]), "where nobody listens")

    async def test_what_is_no_member_is_led_nowhere(self):
        caller = await self.join(0)
        self.assertFalse(await caller.reaches(self.spec.ports.first - 1))
        self.assertFalse(await caller.reaches(self.spec.ports.of(1)[1]), "it has not joined")


class Meetings(unittest.IsolatedAsyncioTestCase):
    async def meet(self, resumes_after=None):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        (root / "events").mkdir()
        (root / "resume.pt").write_bytes(b"the weights of before")
        self.layout = Layout(
            events=root / "events" / "events.jsonl", resume=root / "resume.pt", checkpoints=root / "ck", out=root / "out", listen="127.0.0.1"
        )
        self.port = free_ports(16) + 13
        spec = replace(spec_of(None, self.port), members=1, resumes_after=resumes_after)
        meeting = asyncio.create_task(Meeting(spec, self.layout, asyncio.Event()).run())
        while True:
            try:
                return meeting, await dial("127.0.0.1", self.port, line_of("join", index=0))
            except OSError:
                await asyncio.sleep(0.02)

    def events(self):
        return [json.loads(line) for line in self.layout.events.read_text().splitlines()]

    async def send(self, header: bytes, content: bytes) -> bytes:
        reader, writer = await dial("127.0.0.1", self.port, header)
        writer.write(content)
        writer.write_eof()
        try:
            return await reader.read()
        finally:
            writer.close()

    async def test_a_checkpoint_is_told_once_it_is_there_whole(self):
        meeting, (_, control) = await self.meet()
        content = b"weights" * 1000
        digest = hashlib.sha256(content).hexdigest()
        whole = line_of("checkpoint", step=4, size=len(content), sha256=digest)
        self.assertEqual(await self.send(whole, content[:100]), b"", "half of it")
        self.assertEqual(await self.send(line_of("checkpoint", step=5, size=len(content), sha256="0" * 64), content), b"", "another file")
        self.assertEqual(await self.send(whole, content), b"\x01")
        self.assertEqual(await self.send(line_of("output", path="../escaped", size=1), b"x"), b"")
        self.assertEqual(await self.send(line_of("output", path="deep/told.txt", size=1), b"x"), b"\x01")
        control.write(line_of("done"))
        self.assertEqual(await meeting, 0)
        control.close()
        told = self.events()
        self.assertEqual([one["kind"] for one in told], ["ready", "round-model", "finished"])
        self.assertEqual((told[1]["round"], told[1]["sha256"]), (4, digest))
        self.assertEqual(Path(told[2]["modelFile"]).read_bytes(), content)
        self.assertEqual((self.layout.out / "deep" / "told.txt").read_bytes(), b"x")

    async def test_what_had_nothing_left_to_do_leaves_the_model_that_it_went_on_from(self):
        meeting, (_, control) = await self.meet(resumes_after=8)
        control.write(line_of("done"))
        self.assertEqual(await meeting, 0)
        control.close()
        self.assertEqual(Path(self.events()[-1]["modelFile"]).read_bytes(), b"the weights of before")


if __name__ == "__main__":
    unittest.main()
