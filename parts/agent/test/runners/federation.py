"""One whole attempt as plain processes, each in a container's view of the file system.

Root stays read-only (an overlay of the job image's, or of the host's), the mounts of contracts/src/agent/runner.ts lie where a container has
them, the network has only a loopback, and everything runs as uid 10001. Needs root on a host with util-linux.
"""

import base64
import contextlib
import functools
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

ORG = "resontech"
SERVER = "fl-server"
PORT = 8102
LINK_PORT = 8103
LINK_BYTES_PER_S = 20_000_000
JOB_UID = 10001
_LOSSY_LINK = Path(__file__).with_name("lossy_link.py")
RUNNERS = Path(__file__).resolve().parents[2] / "runners"

# A network with nothing but a loopback, which lives as long as this process; SIOCSIFFLAGS, IFF_UP | IFF_RUNNING.
_LOOPBACK = """
import fcntl, signal, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh", b"lo", 0x41))
print("up", flush=True)
signal.pause()
"""

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_LOOK_INSIDE = r"""
set -eu
root=$1; shift
if [ "$root" != / ]; then
  for dir in proc dev sys; do mkdir -p "$root/$dir"; mount --rbind "/$dir" "$root/$dir"; done
  mkdir -p "$root/tmp"; mount -t tmpfs none "$root/tmp"
fi
exec chroot "$root" "$@"
"""

# Arguments: member folder, root of the image, interpreter. The namespace goes with the last process in it.
_ENTER = r"""
set -eu
member=$1; image=$2; python=$3
mount -t tmpfs none "$member/overlay"
mkdir "$member/overlay/upper" "$member/overlay/work" "$member/overlay/root"
root=$member/overlay/root
mount -t overlay overlay -o "lowerdir=$image,upperdir=$member/overlay/upper,workdir=$member/overlay/work" "$root"
for dir in proc dev sys; do mount --rbind "/$dir" "$root/$dir"; done
mkdir -p "$root/app/payload" "$root/app/out" "$root/app/workspace" "$root/app/model" "$root/rt/job" "$root/rt/events" "$root/rt/runner"
mkdir -p "$root/var/tmp/nvflare/data" "$root/tmp" "$root/etc"
touch "$root/etc/hosts"
mount --bind "$member/../hosts" "$root/etc/hosts"
mount -o remount,ro "$root"
for dir in app/payload app/out app/workspace rt/events; do mount --bind "$member/$dir" "$root/$dir"; done
mount --bind "$member/app/payload" "$root/var/tmp/nvflare/data"
mount --bind "$RUNNERS" "$root/rt/runner"; mount -o remount,ro,bind "$root/rt/runner"
mount --bind "$member/rt/job" "$root/rt/job"; mount -o remount,ro,bind "$root/rt/job"
mount --bind "$member/tmp" "$root/tmp"
for dir in $KEPT; do mkdir -p "$root$dir"; mount --bind "$dir" "$root$dir"; done
exec setpriv --no-new-privs chroot --userspec=10001:10001 --groups= "$root" "$python" -u /rt/runner/run.py
"""


# Of a model file on standard input: its tensors by name, whatever else is noted beside them.
_DIGEST = """
import hashlib, io, sys, torch
saved = torch.load(io.BytesIO(sys.stdin.buffer.read()), map_location="cpu", weights_only=False)
tensors = saved.get("model", saved)
digest = hashlib.sha256()
for name in sorted(tensors):
    digest.update(name.encode() + tensors[name].contiguous().numpy().tobytes())
print(digest.hexdigest())
"""


@dataclass(frozen=True)
class JobImage:
    """Where the interpreter with NVFlare, torch and the public client is: `python` as seen from `root`."""

    root: str
    python: str

    @staticmethod
    def from_environment() -> "JobImage":
        return JobImage(os.environ.get("RT_TEST_JOB_ROOT", "/"), os.environ.get("RT_TEST_PYTHON", "/usr/bin/python3"))

    def forge(self, order: dict) -> dict:
        return _forge_of(self).make(order)

    def weights_digest(self, model: bytes) -> str:
        """Of the weights alone, by the image's own torch."""
        looked = subprocess.run(
            ["unshare", "--mount", "bash", "-c", _LOOK_INSIDE, "digest", self.root, self.python, "-c", _DIGEST],
            input=model,
            capture_output=True,
            check=True,
            env={"PATH": _PATH, "KEPT": self.kept()},
        )
        return looked.stdout.decode().strip()

    def kept(self) -> str:
        """A private /tmp would hide an interpreter that lies there."""
        return "/".join(self.python.split("/")[:3]) if self.python.startswith("/tmp/") else ""


class Forge:
    """forge.py in the image, with torch loaded: it ends with this process, whose end of the pipe closes then."""

    def __init__(self, image: JobImage):
        script = (Path(__file__).parent / "forge.py").read_text()
        self._said = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            ["unshare", "--mount", "bash", "-c", _LOOK_INSIDE, "forge", image.root, image.python, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            env={"PATH": _PATH, "KEPT": image.kept()},
        )

    def make(self, order: dict) -> dict:
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(order), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if answer == "":
            self._process.wait()
            self._said.seek(0)
            raise RuntimeError(self._said.read()[-4000:])
        return json.loads(answer)


@functools.cache
def _forge_of(image: JobImage) -> Forge:
    return Forge(image)


@dataclass(frozen=True)
class ResumeFrom:
    start_round: int
    rounds_left: int
    model: bytes


class Federation:
    """`scripts` and `configs` map file names to text, as the public client renders them; `kits` and `shards` as forge.py makes them."""

    def __init__(
        self,
        folder: Path,
        image: JobImage,
        sites: list[str],
        forged: dict,
        resume: Optional["ResumeFrom"] = None,
        far: tuple[str, ...] = (),
        environment: Optional[dict[str, str]] = None,
        spec: Optional[dict] = None,
    ):
        """
        @param far: sites that reach the server over a link of `LINK_BYTES_PER_S` that `break_link` breaks
        @param environment: of every member, besides what it needs
        @param spec: what the coordinator says beside what every job has
        """
        self.folder = folder
        self.resume = resume
        self.far = far
        self.environment = environment or {}
        self.spec = spec or {}
        self._link: Optional[subprocess.Popen] = None
        self.image = image
        self.sites = sites
        self._network: Optional[subprocess.Popen] = None
        self.processes: dict[str, subprocess.Popen] = {}
        folder.mkdir(parents=True)
        (folder / "hosts").write_text(f"127.0.0.1 localhost {SERVER}\n")
        for member in ["server", *sites]:
            self._make_member(member, forged)
        for site in sites:
            with zipfile.ZipFile(io.BytesIO(base64.b64decode(forged["shards"][site]))) as shard:
                shard.extractall(self.folder / site / "app/payload")

    def _make_member(self, member: str, forged: dict) -> None:
        root = self.folder / member
        for name in ("overlay", "tmp", "app/payload", "app/out", "app/workspace", "rt/events", "rt/job/kit"):
            (root / name).mkdir(parents=True)
        is_server = member == "server"
        spec = {
            "formatVersion": 1,
            "role": "server" if is_server else "client",
            "job": "job-1",
            "attempt": "attempt-1",
            "fence": {"generation": 1, "counter": 1},
            "org": ORG,
            "serverName": SERVER,
            "serverPort": LINK_PORT if member in self.far else PORT,
            "sites": self.sites,
            "site": None if is_server else member,
            "minClients": len(self.sites),
            "numRounds": 3,
            "taskRequestIntervalS": 0.2,
            "modelFile": None,
            "resume": None,
            **self.spec,
        }
        if is_server and self.resume is not None:
            (root / "rt/job/resume").mkdir()
            (root / "rt/job/resume/model.pt").write_bytes(self.resume.model)
            spec["resume"] = {
                "startRound": self.resume.start_round,
                "roundsLeft": self.resume.rounds_left,
                "modelFile": "/rt/job/resume/model.pt",
            }
        (root / "rt/job/spec.json").write_text(json.dumps(spec))
        files = {"rootCA.pem": "root.crt", "member.crt": f"{member}.crt", "member.key": f"{member}.key"}
        if is_server:
            files |= {"admin.crt": "admin.crt", "admin.key": "admin.key"}
            for folder in ("scripts", "configs"):
                (root / "rt/job" / folder).mkdir()
                for name, text in forged[folder].items():
                    (root / "rt/job" / folder / name).write_text(text)
        for name, source in files.items():
            (root / "rt/job/kit" / name).write_text(forged["kits"][source])

    def start(self, *members: str) -> None:
        """Starts `members`, or all; the first call makes the network."""
        if self._network is None:
            self._network = subprocess.Popen(
                ["unshare", "--net", sys.executable, "-c", _LOOPBACK], stdout=subprocess.PIPE
            )
            assert self._network.stdout is not None and self._network.stdout.readline() == b"up\n"
            if self.far:
                self._link = self._start_link()
        subprocess.run(["chown", "-R", f"{JOB_UID}:{JOB_UID}", str(self.folder)], check=True)
        for member in members or ["server", *self.sites]:
            self.processes[member] = self._start_member(member)

    def _start_link(self) -> subprocess.Popen:
        assert self._network is not None
        arguments = [str(LINK_PORT), str(PORT), str(LINK_BYTES_PER_S), str(self.folder / "carried")]
        link = subprocess.Popen(
            ["nsenter", f"--net=/proc/{self._network.pid}/ns/net", sys.executable, str(_LOSSY_LINK), *arguments],
            stdout=subprocess.PIPE,
        )
        assert link.stdout is not None and link.stdout.readline() == b"up\n"
        return link

    def carried(self) -> int:
        """Bytes that the link has given to the server."""
        return int((self.folder / "carried").read_text())

    def break_link(self) -> None:
        assert self._link is not None
        self._link.send_signal(signal.SIGUSR1)

    def _start_member(self, member: str) -> subprocess.Popen:
        root = self.folder / member
        env = {
            "PATH": f"{Path(self.image.python).parent}:{_PATH}",
            "RUNNERS": str(RUNNERS),
            "KEPT": self.image.kept(),
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            **self.environment,
        }
        assert self._network is not None
        with open(root / "log.txt", "wb") as log:
            return subprocess.Popen(
                ["nsenter", f"--net=/proc/{self._network.pid}/ns/net", "unshare", "--mount", "--pid", "--fork", "--kill-child"]
                + ["--mount-proc", "bash", "-c", _ENTER, "enter", str(root), self.image.root, self.image.python],
                env=env,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def wait(self, member: str, timeout_s: float) -> int:
        return self.processes[member].wait(timeout_s)

    def events(self, member: str) -> list[dict]:
        file = self.folder / member / "rt/events/events.jsonl"
        if not file.exists():
            return []
        return [json.loads(line) for line in file.read_text().splitlines()]

    def kinds(self, member: str) -> list[str]:
        return [event["kind"] for event in self.events(member)]

    def await_event(self, member: str, kind: str, timeout_s: float) -> dict:
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            for event in self.events(member):
                if event["kind"] == kind:
                    return event
            if self.processes[member].poll() is not None:
                break
            time.sleep(0.05)
        raise TimeoutError(f"{member} said no {kind}: {self.events(member)}")

    def log(self, member: str) -> str:
        return (self.folder / member / "log.txt").read_text(errors="replace")

    def inside(self, member: str) -> list[tuple[int, str]]:
        """Processes of a member by host pid, with their command lines."""
        found = []
        for child in _descendants(self.processes[member].pid):
            try:
                command = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            found.append((child, command))
        return found

    def kill(self, member: str) -> None:
        """The whole container at once, as a node is lost."""
        for pid, _ in self.inside(member)[:1]:
            os.kill(pid, signal.SIGKILL)
        self.processes[member].wait()

    def replace(self, member: str) -> None:
        """The same member in a container that knows nothing of the former one."""
        root = self.folder / member
        for name in ("overlay", "tmp", "app/out", "app/workspace", "rt/events"):
            shutil.rmtree(root / name)
            (root / name).mkdir()
        self.start(member)

    def order_commit(self) -> None:
        """To the server, as the agent gives it: a file that appears whole."""
        job = self.folder / "server/rt/job"
        fresh = job / "commit-order.json.fresh"
        fresh.write_text(json.dumps({"formatVersion": 1}))
        fresh.rename(job / "commit-order.json")

    def terminate(self, member: str) -> None:
        """SIGTERM to the runner alone, as `/rt/init` forwards it."""
        for pid, command in self.inside(member):
            if "/rt/runner/run.py" in command and "unshare" not in command:
                os.kill(pid, signal.SIGTERM)

    def close(self) -> None:
        for member, process in self.processes.items():
            # The first process of the namespace takes all others along; --kill-child loses its hold when that one changes its uid.
            for pid, _ in self.inside(member)[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.kill()
            process.wait()
        self.processes = {}
        for helper in (self._link, self._network):
            if helper is not None:
                helper.kill()
                helper.communicate()
        self._link = self._network = None
        shutil.rmtree(self.folder, ignore_errors=True)


def _descendants(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        # Processes come and go meanwhile.
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                found += [int(child), *_descendants(int(child))]
    return found
