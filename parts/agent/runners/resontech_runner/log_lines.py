"""Reading log text: metric lines, and the tracebacks that explain a failure."""

import json
import re
from collections import deque
from dataclasses import dataclass
from typing import Optional

METRIC_MAX_BYTES = 4096
"""As the agent protocol's `metric` event takes it; the beginning of a longer one is kept as text."""

TRACEBACK_KEPT_LINES = 40
TRACEBACK_MAX_CHARS = 8192

_METRIC = "RT_METRIC "
_LINE_END = re.compile(r"[\r\n]")
# Of a line that is too long; more than METRIC_MAX_BYTES, so that it is still known for one.
_SAID_MAX_CHARS = 2 * METRIC_MAX_BYTES
_TEXT_MAX_CHARS = 1024
# NVFlare's components log "[identity=site-1, run=…, …]: text" (nvflare 2.9.0 apis/utils/fl_context_utils.py generate_log_message).
_CONTEXT = re.compile(r"^\[identity=[^\]]*\]: ")
_TRACEBACK_START = "Traceback (most recent call last):"
# "ValueError: text", "torch.OutOfMemoryError: text", "KeyboardInterrupt"
_TRACEBACK_END = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning|Iteration|[A-Z]\w*)?(?:: .*)?$")
# kit.py `_LOG_CONFIG`: a record of a log ends the lines of a message.
_RECORD = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_MESSAGE_KEPT_LINES = 20
_CHAINED = ("During handling of", "The above exception was")
# traceback.py draws a group's members behind bars: "  | ", "    +-+---- 1 ----".
_BARS = re.compile(r"^\s*[|+](?:[-+ ]*-[-+ \d.]*$| ?)")
_IN_GROUP = re.compile(r"^\s*[|+] ?|^\s+[|+]")
_SEPARATOR = re.compile(r"^\s*\+[-+]*-")


def message_of(text: str) -> str:
    """A log record's message without NVFlare's context in front."""
    return _CONTEXT.sub("", text, count=1)


@dataclass(frozen=True)
class Metric:
    json: str
    """One JSON object, at most METRIC_MAX_BYTES."""
    problem: Optional[str] = None
    """Why it is not what the line said. What JSON can't hold is kept as text."""


def metrics_in(message: str) -> list[str]:
    """What follows `RT_METRIC` in each line of a message; a progress bar ends its lines by `\\r`."""
    if _METRIC not in message:
        return []
    lines = (line for line in _LINE_END.split(message) if line.startswith(_METRIC))
    return [line[len(_METRIC) :].strip()[:_SAID_MAX_CHARS] for line in lines]


def metric_of(said: str) -> Metric:
    """@param said: one of `metrics_in`"""
    if len(said.encode("utf-8", "replace")) > METRIC_MAX_BYTES:
        return _as_text(said, f"it is longer than {METRIC_MAX_BYTES} bytes")
    constants: list[str] = []
    try:
        parsed = json.loads(said, parse_constant=lambda name: constants.append(name) or name)
    except RecursionError:
        return _as_text(said, "it is nested too deeply")
    except ValueError:
        return _as_text(said, "it is no JSON")
    if not isinstance(parsed, dict):
        return _as_text(said, "it is no JSON object")
    if not constants:
        return Metric(said)
    kept = json.dumps(parsed, ensure_ascii=False)
    problem = f"JSON has no {constants[0]}"
    return Metric(kept, problem) if len(kept.encode("utf-8", "replace")) <= METRIC_MAX_BYTES else _as_text(said, problem)


def _as_text(said: str, problem: str) -> Metric:
    start = said[:_TEXT_MAX_CHARS]
    while len(kept := json.dumps({"text": start, "problem": problem})) > METRIC_MAX_BYTES:
        start = start[: len(start) // 2]
    return Metric(kept, problem)


def last_lines(text: str) -> str:
    """The end of a traceback, short enough for an event."""
    lines = text.splitlines()
    # Of a chain that was read up to here, the next one is told by itself.
    while lines and (not lines[-1].strip() or lines[-1].startswith(_CHAINED)):
        lines.pop()
    return "\n".join(lines[-TRACEBACK_KEPT_LINES:]).rstrip()[-TRACEBACK_MAX_CHARS:]


def raised_in(text: str) -> list[str]:
    """What a text with tracebacks says was raised, oldest first: type and whole message; of a group "group: first member"."""
    lines = text.splitlines()
    plain = [_BARS.sub("", line) if _IN_GROUP.match(line) else line for line in lines]
    found: list[str] = []
    at = 0
    while at < len(lines):
        if _TRACEBACK_START in plain[at]:
            is_group = "Exception Group" in plain[at]
            said, at = _message_at(plain, _after_frames(plain, at + 1))
            if is_group:
                member, at = _first_member(lines, plain, at)
                said = f"{said}: {member}" if member else said
            if said:
                found.append(said)
        else:
            at += 1
    return found


def _first_member(lines: list[str], plain: list[str], at: int) -> tuple[str, int]:
    """Of the group whose message ended before `at`; its other members are passed over."""
    while at < len(lines) and not _SEPARATOR.match(lines[at]):
        at += 1
    at += 1
    if at < len(lines) and _TRACEBACK_START in plain[at]:
        at = _after_frames(plain, at + 1)
    member, at = _message_at(plain, at)
    while at < len(lines) and (_IN_GROUP.match(lines[at]) or not lines[at].strip()):
        at += 1
    return member, at


def _after_frames(plain: list[str], at: int) -> int:
    while at < len(plain) and (not plain[at] or plain[at][0] in " \t"):
        at += 1
    return at


def _message_at(plain: list[str], at: int) -> tuple[str, int]:
    """The lines of a message, and where it has ended."""
    start = at
    while at < len(plain) and (at == start or not _ends_message(plain[at])):
        at += 1
    return "\n".join(plain[start:at]).strip(), at


def _ends_message(line: str) -> bool:
    return not line.strip() or _TRACEBACK_START in line or line.startswith(_CHAINED) or _RECORD.match(line) is not None


class TracebackCollector:
    """Picks whole tracebacks out of a stream of log lines; the newest are kept.

    Chained ones ("During handling of …", "… direct cause …") belong together, a message may have many lines, a group holds tracebacks.
    """

    def __init__(self, keep: int = 8):
        self.found: deque[str] = deque(maxlen=keep)
        self._open: Optional[list[str]] = None
        self._chain = False
        self._message_lines = 0
        self._in_group = False

    def feed(self, line: str) -> None:
        line = line.rstrip("\r\n")
        start = line.find(_TRACEBACK_START)
        if self._in_group:
            self._continue_group(line)
        elif start >= 0:
            self._start(line, start)
        elif self._open is not None:
            self._continue(line)
        elif self._chain:
            self._follow(line)

    def _start(self, line: str, start: int) -> None:
        self._chain = False
        if "Exception Group " in line[:start]:
            self._in_group = True
            self._open = [line[line.index("+") :]] if "+" in line[:start] else [line[start:]]
            return
        if self._open is not None and self._open[-1:] == [""]:
            self._open.append(line[start:])
        else:
            self._open = [line[start:]]

    def _continue_group(self, line: str) -> None:
        assert self._open is not None
        if _IN_GROUP.match(line):
            if len(self._open) < 4 * TRACEBACK_KEPT_LINES:
                self._open.append(line)
            return
        self.found.append("\n".join(self._open))
        self._open, self._in_group, self._chain = None, False, True
        self._message_lines = _MESSAGE_KEPT_LINES
        self._follow(line)

    def _continue(self, line: str) -> None:
        assert self._open is not None
        if line.startswith((" ", "\t")) or not line:
            if len(self._open) < 4 * TRACEBACK_KEPT_LINES:
                self._open.append(line)
            return
        if _TRACEBACK_END.match(line):
            self.found.append("\n".join([*self._open, line]))
            self._chain, self._message_lines = True, 0
        self._open = None

    def _follow(self, line: str) -> None:
        """After the line that says what was raised: more of its message, or the next of a chain."""
        if line.startswith(_CHAINED):
            self._chain = False
            self._open = [*self.found.pop().splitlines(), "", line, ""]
        elif _RECORD.match(line) or self._message_lines >= _MESSAGE_KEPT_LINES:
            # A blank line stands before the words that chain.
            self._chain = not line
        elif line:
            self._message_lines += 1
            self.found[-1] += f"\n{line}"
