"""One whole attempt as plain processes, each in a container's view of the file system.

Root stays read-only (an overlay of the host's), the mounts of contracts/src/runner.ts lie where a container has them, the network
has only a loopback, and everything runs as uid 10001. Needs root and an interpreter that has NVFlare and torch.
"""

import json
import os
import shutil
import signal
import subprocess
import time
import zipfile
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Optional

ORG = "resontech"
SERVER = "fl-server"
PORT = 8102
JOB_UID = 10001
RUNNERS = Path(__file__).resolve().parents[2] / "runners"

# Arguments: member folder. The namespace goes with the last process in it.
_ENTER = r"""
set -eu
member=$1; python=$2
mount -t tmpfs none "$member/overlay"
mkdir "$member/overlay/upper" "$member/overlay/work" "$member/overlay/root"
root=$member/overlay/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$member/overlay/upper,workdir=$member/overlay/work" "$root"
for dir in proc dev sys; do mount --rbind "/$dir" "$root/$dir"; done
mkdir -p "$root/app/payload" "$root/app/out" "$root/app/workspace" "$root/app/model" "$root/rt/job" "$root/rt/events" "$root/rt/runner"
mkdir -p "$root/var/tmp/nvflare/data" "$root/tmp"
mount --bind "$member/../hosts" "$root/etc/hosts"
mount -o remount,ro "$root"
for dir in app/payload app/out app/workspace rt/events; do mount --bind "$member/$dir" "$root/$dir"; done
mount --bind "$member/app/payload" "$root/var/tmp/nvflare/data"
mount --bind "$RUNNERS" "$root/rt/runner"; mount -o remount,ro,bind "$root/rt/runner"
mount --bind "$member/rt/job" "$root/rt/job"; mount -o remount,ro,bind "$root/rt/job"
mount --bind "$member/tmp" "$root/tmp"
for dir in $KEPT; do mkdir -p "$root$dir"; mount --bind "$dir" "$root$dir"; done
exec chroot "$root" setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs "$python" -u /rt/runner/run.py
"""


class Federation:
    """`scripts` and `configs` map file names to text, as the public client renders them."""

    def __init__(self, folder: Path, python: str, sites: list[str], scripts: dict[str, str], configs: dict[str, str]):
        self.folder = folder
        self.python = python
        self.sites = sites
        self._network: Optional[subprocess.Popen] = None
        self.processes: dict[str, subprocess.Popen] = {}
        folder.mkdir(parents=True)
        (folder / "hosts").write_text(f"127.0.0.1 localhost {SERVER}\n")
        kits = _make_kits(sites)
        for member in ["server", *sites]:
            self._make_member(member, kits, scripts, configs)

    def _make_member(self, member: str, kits: dict[str, bytes], scripts: dict[str, str], configs: dict[str, str]) -> None:
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
            "serverPort": PORT,
            "sites": self.sites,
            "site": None if is_server else member,
            "minClients": len(self.sites),
            "numRounds": 3,
            "taskRequestIntervalS": 0.2,
            "modelFile": None,
        }
        (root / "rt/job/spec.json").write_text(json.dumps(spec))
        files = {"rootCA.pem": "root.crt", "member.crt": f"{member}.crt", "member.key": f"{member}.key"}
        if is_server:
            files |= {"admin.crt": "admin.crt", "admin.key": "admin.key"}
            for folder, texts in (("scripts", scripts), ("configs", configs)):
                (root / "rt/job" / folder).mkdir()
                for name, text in texts.items():
                    (root / "rt/job" / folder / name).write_text(text)
        for name, source in files.items():
            (root / "rt/job/kit" / name).write_bytes(kits[source])

    def put_shard(self, site: str, archive: Path) -> None:
        with zipfile.ZipFile(archive) as shard:
            shard.extractall(self.folder / site / "app/payload")

    def start(self, *members: str) -> None:
        """Starts `members`, or all; the first call makes the network."""
        if self._network is None:
            self._network = subprocess.Popen(
                ["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec sleep infinity"], stdout=subprocess.PIPE
            )
            assert self._network.stdout is not None and self._network.stdout.readline() == b"up\n"
        subprocess.run(["chown", "-R", f"{JOB_UID}:{JOB_UID}", str(self.folder)], check=True)
        for member in members or ["server", *self.sites]:
            self.processes[member] = self._start_member(member)

    def _start_member(self, member: str) -> subprocess.Popen:
        root = self.folder / member
        env = {
            "PATH": f"{Path(self.python).parent}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "RUNNERS": str(RUNNERS),
            # A private /tmp would hide an interpreter that lies there.
            "KEPT": "/".join(self.python.split("/")[:3]) if self.python.startswith("/tmp/") else "",
        }
        env["OMP_NUM_THREADS"] = "1"
        assert self._network is not None
        with open(root / "log.txt", "wb") as log:
            return subprocess.Popen(
                ["nsenter", f"--net=/proc/{self._network.pid}/ns/net", "unshare", "--mount", "--pid", "--fork", "--kill-child"]
                + ["--mount-proc", "bash", "-c", _ENTER, "enter", str(root), self.python],
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

    def terminate(self, member: str) -> None:
        """SIGTERM to the runner alone, as `/rt/init` forwards it."""
        for pid, command in self.inside(member):
            if "/rt/runner/run.py" in command and "unshare" not in command:
                os.kill(pid, signal.SIGTERM)

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()
        if self._network is not None:
            self._network.kill()
            self._network.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)


def _descendants(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *_descendants(int(child))]
    return found


def _make_kits(sites: list[str]) -> dict[str, bytes]:
    """Keys and certificates as contracts/src/federation-certificates.ts describes them."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    start = datetime.now(timezone.utc) - timedelta(minutes=5)
    root_key = ec.generate_private_key(ec.SECP256R1())
    root_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "attempt-1")])

    def usage(*names: str) -> x509.KeyUsage:
        every = "digital_signature content_commitment key_encipherment data_encipherment key_agreement key_cert_sign crl_sign"
        return x509.KeyUsage(**{name: name in names for name in every.split()}, encipher_only=False, decipher_only=False)

    def certificate(subject, key, days):
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(root_name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(start + timedelta(days=days))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        )

    pem = serialization.Encoding.PEM
    root = (
        certificate(root_name, root_key, 366)
        .add_extension(x509.BasicConstraints(True, 0), True)
        .add_extension(usage("key_cert_sign", "crl_sign"), True)
        .sign(root_key, hashes.SHA256())
    )
    kits = {"root.crt": root.public_bytes(pem)}

    def leaf(name: str, common_name: str, hosts: list[str], purpose, role: Optional[str] = None) -> None:
        key = rsa.generate_private_key(65537, 2048)
        attributes = [(NameOID.COMMON_NAME, common_name), (NameOID.ORGANIZATION_NAME, ORG)]
        if role is not None:
            attributes.append((NameOID.UNSTRUCTURED_NAME, role))
        subject = x509.Name([x509.NameAttribute(oid, value) for oid, value in attributes])
        signed = (
            certificate(subject, key, 365)
            .add_extension(x509.BasicConstraints(False, None), True)
            .add_extension(usage("digital_signature", "key_encipherment"), True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()), False)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts]), False)
            .sign(root_key, hashes.SHA256())
        )
        kits[f"{name}.crt"] = signed.public_bytes(pem)
        kits[f"{name}.key"] = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    leaf("server", SERVER, [SERVER, "localhost"], ExtendedKeyUsageOID.SERVER_AUTH)
    leaf("admin", "submitter", ["submitter"], ExtendedKeyUsageOID.CLIENT_AUTH, role="project_admin")
    for site in sites:
        leaf(site, site, [site], ExtendedKeyUsageOID.CLIENT_AUTH)
    return kits
