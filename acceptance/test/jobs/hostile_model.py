"""A model whose training tries to get out of its container; it fails with what got further than it should have, or what a job needs and lacks.
In a second round, once every site has told what it tried, it fails as a researcher's typo does.

Its shard has `root.txt`, the appliance's install root, and `host.txt`, the host's name: what it must find nowhere.
"""
import ctypes
import errno
import getpass
import json
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import torch
from torch.utils.data import DataLoader, TensorDataset

SHARD = Path("/app/payload")
NEW_USER, NEW_NET, NEW_PID, NEW_NS = 0x10000000, 0x40000000, 0x20000000, 0x00020000
#: Name → number on x86-64 and arguments.
CALLS = {
    "unshare a user namespace": (272, NEW_USER),
    "unshare user, network and mounts": (272, NEW_USER | NEW_NET | NEW_NS),
    "clone into a user namespace": (56, NEW_USER | 17, 0, 0, 0, 0),
    "clone into a PID namespace": (56, NEW_USER | NEW_PID | 17, 0, 0, 0, 0),
    "clone3": (435, 0, 0),
    "setns": (308, 0, 0),
    "keyctl": (250, 0, -4, 1),
    "add_key": (248, b"user", b"left-behind", b"secret", 6, -4),
    "request_key": (249, b"user", b"left-behind", 0, -4),
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, 0, 0, -1, -1, 0),
    "userfaultfd": (323, 1),
    "io_uring_setup": (425, 4, ctypes.create_string_buffer(120)),
    "io_uring_enter": (426, 0, 0, 0, 0, 0),
    "io_uring_register": (427, 0, 0, 0, 0),
    "mount": (165, b"none", b"/tmp", b"tmpfs", 0, 0),
    "read the kernel's log": (103, 10, 0, 0),
    "ptrace PID 1": (101, 16, 1, 0, 0),
}
REFUSALS = {errno.EPERM, errno.ENOSYS}
# Without its last call torch now and then aborts at the end of the process: "terminate called without an active exception".
GLOO = (
    "import sys, torch, torch.distributed as d; d.init_process_group('gloo', init_method='file:///tmp/gloo', rank=int(sys.argv[1]), world_size=2); "
    "x = torch.ones(1); d.all_reduce(x); assert x.item() == 2; d.destroy_process_group()"
)


class HostileModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)


def fl_train(model, env, out_dir, logger=None):
    if int(env["CURRENT_ROUND"]) > 0:
        raise ValueError("the label column is missing")
    tried, wrong = [], []

    def expect(what, holds):
        tried.append(what)
        if not holds:
            wrong.append(what)

    libc = ctypes.CDLL(None, use_errno=True)
    for what, (number, *arguments) in CALLS.items():
        answer = libc.syscall(number, *(ctypes.c_long(value) if isinstance(value, int) else value for value in arguments))
        if answer == 0 and number == 56:
            os._exit(0)
        expect(what, answer == -1 and ctypes.get_errno() in REFUSALS)
    for what, family, kind in [("AF_VSOCK", 40, socket.SOCK_STREAM), ("AF_PACKET", 17, socket.SOCK_RAW), ("AF_ALG", 38, socket.SOCK_SEQPACKET)]:
        expect(what, refused(lambda: socket.socket(family, kind), errno.EAFNOSUPPORT))
    for pid in (1, os.getppid(), os.getpid()):
        expect(f"prlimit of {pid}", refused(lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (16, 16)), errno.EPERM))

    uid = os.getuid()
    expect("the uid is none that other members share", uid not in (0, 10001) and os.getgid() == uid)
    expect("getpass", getpass.getuser() == "job")
    expect("every process that it sees is its own", {int(Path(f"/proc/{pid}").stat().st_uid) for pid in os.listdir("/proc") if pid.isdigit()} <= {uid, 0})
    host, root = ((SHARD / name).read_text().strip() for name in ("host.txt", "root.txt"))
    for file in ("/proc/self/mountinfo", "/proc/self/mounts", "/proc/1/mountinfo", "/etc/hosts", "/etc/resolv.conf", "/etc/hostname", "/etc/passwd"):
        text = read(file)
        expect(f"{file} has neither the install root nor the host's name", root not in text and host not in text.split())
    expect("no name server", "nameserver" not in read("/etc/resolv.conf"))

    expect("own limits can be set", resource.setrlimit(resource.RLIMIT_CORE, (0, 0)) is None)
    expect("its own name resolves", socket.gethostbyname(socket.gethostname()).startswith("198."))
    loader = DataLoader(TensorDataset(torch.ones(32, 2)), batch_size=8, num_workers=2, multiprocessing_context="fork")
    expect("DataLoader workers", sum(batch.sum().item() for (batch,) in loader) == 64)
    ranks = [subprocess.Popen([sys.executable, "-c", GLOO, str(rank)], stderr=subprocess.PIPE, text=True) for rank in range(2)]
    said = [rank.communicate(timeout=120)[1][-300:] for rank in ranks]
    codes = [rank.returncode for rank in ranks]
    expect("gloo" if codes == [0, 0] else f"gloo: ranks ended {codes}, {said}", codes == [0, 0])

    (logger or print)("RT_METRIC " + json.dumps({"tried": len(tried), "uid": uid}))
    if wrong:
        raise AssertionError(f"not contained, or not able: {', '.join(wrong)}")
    return {"weights": model.state_dict(), "samples": 1}


def refused(call, code):
    try:
        call()
    except OSError as error:
        return error.errno == code
    return False


def read(file):
    try:
        return Path(file).read_text()
    except OSError:
        return ""
