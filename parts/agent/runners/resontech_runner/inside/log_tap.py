"""Hears what is logged or printed in a job process, from the moment it is attached."""

import faulthandler
import logging
import re
import sys
from collections import deque
from typing import Callable

from ..log_lines import message_of, metrics_in

_ERROR_MAX_CHARS = 16_384
_LINE_END = re.compile(r"[\r\n]")


class LogTap(logging.Handler):
    """Hands what follows `RT_METRIC` in a line to `on_metric`, and keeps the newest error texts."""

    def __init__(self, on_metric: Callable[[str], None], keep_errors: int = 6):
        super().__init__(logging.INFO)
        self._on_metric = on_metric
        self.errors: deque[str] = deque(maxlen=keep_errors)

    def attach(self) -> None:
        # A segmentation fault leaves its stack in the log; of all threads it would hide what was said before.
        faulthandler.enable(all_threads=False)
        logging.getLogger().addHandler(self)
        sys.stdout = _LineTap(sys.stdout, self._heard)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = message_of(record.getMessage())
            self._heard(message)
            if record.levelno >= logging.ERROR:
                if record.exc_info:
                    message += "\n" + logging.Formatter().formatException(record.exc_info)
                self.errors.append(message[-_ERROR_MAX_CHARS:])
        except Exception:
            self.handleError(record)

    def _heard(self, message: str) -> None:
        for said in metrics_in(message):
            self._on_metric(said)


class _LineTap:
    """Standard output, with whole printed lines shown to `on_line` too."""

    def __init__(self, stream, on_line: Callable[[str], None]):
        self._stream = stream
        self._on_line = on_line
        self._rest = ""

    def write(self, text: str) -> int:
        written = self._stream.write(text)
        # Only the start of a line decides; a long line without an end is not kept.
        *lines, self._rest = _LINE_END.split(self._rest + text)
        self._rest = self._rest[:16_384]
        for line in lines:
            self._on_line(line)
        return written

    def __getattr__(self, name: str):
        return getattr(self._stream, name)
