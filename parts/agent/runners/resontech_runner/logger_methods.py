"""Gives the function that training is told to log with the methods of a logger."""

import functools
import traceback
from types import ModuleType
from typing import Any, Callable

#: What the client's executor takes as `type` of an event (`user_logger` in resontech 0.3.0, rt/_platform/custom_client_executor.py).
_TYPES = {"debug": "info", "info": "info", "warning": "warning", "warn": "warning", "error": "error", "critical": "error", "fatal": "error"}
_TRAINING = ("fl_train", "fl_validate")


def wrap_training(module: ModuleType) -> None:
    """The training of a user's module gets a `logger` that can be called and has methods. A second call changes nothing."""
    for name in _TRAINING:
        training = getattr(module, name, None)
        if callable(training) and not hasattr(training, "__rt_logger__"):
            setattr(module, name, _with_logger(training))


def give_methods(log: Callable[[Any], Any]) -> None:
    """`log.info(text, *values)` and its like, where `log` has none and can be given some."""
    if not callable(log) or hasattr(log, "info"):
        return
    try:
        for name, kind in _TYPES.items():
            setattr(log, name, functools.partial(_say, log, kind))
        log.exception = functools.partial(_say, log, "error", exc_info=True)
        log.log = lambda level, text, *values, **options: _say(log, _type_of(level), text, *values, **options)
    except AttributeError:
        # A method or an object with slots keeps what it has.
        return


def _with_logger(training: Callable) -> Callable:
    @functools.wraps(training)
    def trained(*arguments, **named):
        give_methods(named.get("logger"))
        return training(*arguments, **named)

    trained.__rt_logger__ = True
    return trained


def _say(log: Callable[[Any], Any], kind: str, text: Any, *values: Any, exc_info: Any = None, **_options: Any) -> None:
    message = str(text)
    if values:
        # As `logging` has it: one mapping names its values, and a wrong form loses no text.
        chosen = values[0] if len(values) == 1 and isinstance(values[0], dict) and values[0] else values
        try:
            message = message % chosen
        except (TypeError, ValueError, KeyError):
            message = " ".join([message, *map(str, values)])
    if exc_info:
        message = f"{message}\n{traceback.format_exc()}"
    log({"type": kind, "msg": message})


def _type_of(level: Any) -> str:
    number = level if isinstance(level, int) else 20
    return "error" if number >= 40 else "warning" if number >= 30 else "info"
