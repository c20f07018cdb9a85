"""Reading log text: metric lines, and the tracebacks that explain a failure."""

import json
import re
from collections import deque
from typing import Optional

METRIC_MAX_BYTES = 4096
"""As the agent protocol's `metric` event takes it; a longer line is no metric."""

TRACEBACK_KEPT_LINES = 40
TRACEBACK_MAX_CHARS = 8192

_METRIC = "RT_METRIC "
# NVFlare's components log "[identity=site-1, run=…, …]: text" (nvflare 2.9.0 apis/utils/fl_context_utils.py generate_log_message).
_CONTEXT = re.compile(r"^\[identity=[^\]]*\]: ")
_TRACEBACK_START = "Traceback (most recent call last):"
# "ValueError: text", "torch.OutOfMemoryError: text", "KeyboardInterrupt"
_TRACEBACK_END = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning|Iteration|[A-Z]\w*)?(?:: .*)?$")


def message_of(text: str) -> str:
    """A log record's message without NVFlare's context in front."""
    return _CONTEXT.sub("", text, count=1)


def metric_of(message: str) -> Optional[str]:
    """The JSON of a message that is `RT_METRIC {json}`, else None."""
    if not message.startswith(_METRIC):
        return None
    value = message[len(_METRIC) :].strip()
    if len(value.encode("utf-8", "replace")) > METRIC_MAX_BYTES:
        return None
    try:
        parsed = json.loads(value, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(parsed, dict) else None


def _refuse(constant: str):
    raise ValueError(f"{constant} is not JSON")


def last_lines(text: str) -> str:
    """The end of a traceback, short enough for an event."""
    lines = text.rstrip().splitlines()[-TRACEBACK_KEPT_LINES:]
    return "\n".join(lines)[-TRACEBACK_MAX_CHARS:]


class TracebackCollector:
    """Picks whole tracebacks out of a stream of log lines; the newest are kept.

    Chained ones ("During handling of …", "… direct cause …") belong together.
    """

    def __init__(self, keep: int = 8):
        self.found: deque[str] = deque(maxlen=keep)
        self._open: Optional[list[str]] = None
        self._chain = False

    def feed(self, line: str) -> None:
        line = line.rstrip("\r\n")
        start = line.find(_TRACEBACK_START)
        if start >= 0:
            self._start(line[start:])
        elif self._open is not None:
            self._continue(line)
        elif self._chain and line:
            self._chain = False
            if line.startswith(("During handling of", "The above exception was")):
                self._open = [*self.found.pop().splitlines(), "", line, ""]

    def _start(self, line: str) -> None:
        if self._open is not None and self._open[-1:] == [""]:
            self._open.append(line)
        else:
            self._open = [line]
        self._chain = False

    def _continue(self, line: str) -> None:
        assert self._open is not None
        if line.startswith((" ", "\t")) or not line:
            if len(self._open) < 4 * TRACEBACK_KEPT_LINES:
                self._open.append(line)
            return
        if _TRACEBACK_END.match(line):
            self.found.append("\n".join([*self._open, line]))
            self._chain = True
        self._open = None
