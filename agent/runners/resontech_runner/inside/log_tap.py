"""Hears what is logged or printed in a job process, from the moment it is attached."""

import logging
import sys
from collections import deque
from typing import Callable

from ..log_lines import message_of, metric_of

_ERROR_MAX_CHARS = 16_384


class LogTap(logging.Handler):
    """Hands each `RT_METRIC` line to `on_metric`, and keeps the newest error texts."""

    def __init__(self, on_metric: Callable[[str], None], keep_errors: int = 6):
        super().__init__(logging.INFO)
        self._on_metric = on_metric
        self.errors: deque[str] = deque(maxlen=keep_errors)

    def attach(self) -> None:
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
        value = metric_of(message)
        if value is not None:
            self._on_metric(value)


class _LineTap:
    """Standard output, with whole printed lines shown to `on_line` too."""

    def __init__(self, stream, on_line: Callable[[str], None]):
        self._stream = stream
        self._on_line = on_line
        self._rest = ""

    def write(self, text: str) -> int:
        written = self._stream.write(text)
        # Only the start of a line decides; a long line without an end is not kept.
        *lines, self._rest = (self._rest + text).split("\n")
        self._rest = self._rest[:8192]
        for line in lines:
            self._on_line(line)
        return written

    def __getattr__(self, name: str):
        return getattr(self._stream, name)
