"""Hooks of schemathesis: each answer is a line of `RT_ANSWERS`, of operation and status; the key by which it asks (`RT_OWN_KEY`) is not deleted; and no
address is refused so often that it is told to wait.

The appliance counts refused credentials by address, and after 30 in a minute looks at none of that address. Of loopback there are addresses enough, and
each run has its own: what the run before it was refused counts for a minute.
"""

import itertools
import json
import os

import schemathesis
from requests import Session
from requests.adapters import HTTPAdapter

_REQUESTS_OF_ADDRESS = 20
_RUN = 1 + os.getpid() % 250
_numbers = itertools.count()
_answers = open(os.environ["RT_ANSWERS"], "a", buffering=1)


class _FromAddress(HTTPAdapter):
    def __init__(self, address: str):
        self._address = address
        super().__init__()

    def init_poolmanager(self, *arguments, **options):
        super().init_poolmanager(*arguments, source_address=(self._address, 0), **options)


@schemathesis.hook
def before_call(context, case, kwargs):
    # It learns ids from lists, and would ask for nothing any more.
    if case.method == "DELETE" and case.path_parameters.get("id") == os.environ["RT_OWN_KEY"]:
        case.path_parameters["id"] = "k_of_nobody"


_send = Session.send


def _send_from(session: Session, request, **options):
    number, of_address = divmod(next(_numbers), _REQUESTS_OF_ADDRESS)
    if of_address == 0:
        session.close()
        address = f"127.{_RUN}.{1 + number // 250}.{1 + number % 250}"
        session.mount("https://", _FromAddress(address))
    return _send(session, request, **options)


Session.send = _send_from


@schemathesis.hook
def after_call(context, case, response):
    _answers.write(json.dumps([case.operation.label, response.status_code]) + "\n")
