"""What torchrun and its ranks said, as one cause. Pure."""

import re
from typing import Optional

from resontech_runner.failure import failure_of
from resontech_runner.log_lines import last_lines, raised_in
from resontech_runner.process_end import end_in_words

from .verdict import Break, is_parted

# torch 2.15 distributed/elastic/multiprocessing/errors/__init__.py: the summary of ChildFailedError, whose root cause stands last.
_ROOT = re.compile(r"rank\s*:\s*(\d+).*?exitcode\s*:\s*(-?\d+)", re.DOTALL)
_LAUNCHER = "ChildFailedError"
_KILLED = -9


def cause_of(index: int, site: str, code: Optional[int], tail: str, tracebacks: list[str], out_of_memory: bool) -> Break:
    """
    @param code: of torchrun
    @param tail: the last lines of everything
    @param tracebacks: oldest first
    """
    if out_of_memory:
        message = f"{site}: a process was killed: the memory limit of the container was reached"
        return Break(index, "killed", "out_of_memory", message, tail or None)
    root = _root_of(tail)
    if root is not None and root[1] == _KILLED:
        return Break(index, "killed", "container_failed", f"{site}: rank {root[0]} {end_in_words(_KILLED)}", tail)
    own = [text for text in tracebacks if _LAUNCHER not in text]
    said = [text for text in own if not _says_parted(text)]
    if said:
        failure = failure_of(site, [said[0]], [], has_begun=True)
        # A script's own JSON is no configuration of the job.
        reason = "user_exception" if failure.reason == "config_invalid" else failure.reason
        return Break(index, "raised", reason, failure.message, failure.detail)
    if own:
        raised = raised_in(own[0])
        return Break(index, "parted", "federation_failed", f"{site}: {raised[-1] if raised else 'lost its peers'}", last_lines(own[0]))
    rank = "torchrun" if root is None else f"rank {root[0]}"
    return Break(index, "raised", "payload_exited", f"{site}: {rank} {end_in_words(code if root is None else root[1])}", tail or None)


def _root_of(tail: str) -> Optional[tuple[int, int]]:
    found = _ROOT.findall(tail[tail.rfind("Root Cause") :]) if "Root Cause" in tail else []
    return (int(found[0][0]), int(found[0][1])) if found else None


def _says_parted(text: str) -> bool:
    raised = raised_in(text)
    return bool(raised) and is_parted(raised[-1])
