"""Pure: which bytes of a request the predictor is given."""

import base64
import binascii
import email.parser
import email.policy
import json
from typing import Optional


class BadBody(Exception):
    """The request says nothing that a predictor could be given; the text is for the caller."""


def predictor_bytes(content_type: Optional[str], body: bytes) -> bytes:
    """
    - `application/json` with `data_b64`: those bytes alone
    - `multipart/*`: the first file
    - everything else: the body as it is

    @raise BadBody
    """
    kind = (content_type or "").split(";")[0].strip().lower()
    if kind == "application/json":
        return _from_json(body)
    if kind.startswith("multipart/"):
        return _first_file(content_type or "", body)
    return body


def _from_json(body: bytes) -> bytes:
    try:
        said = json.loads(body)
    except ValueError as error:
        raise BadBody(f"the body is no JSON: {error}") from error
    if not isinstance(said, dict):
        raise BadBody("the JSON is no object with data_b64 or url")
    if "url" in said:
        # Whoever may be asked for it is the gateway's to say: a replica has no way out.
        raise BadBody("a url is fetched before the replica, never by it")
    encoded = said.get("data_b64")
    if not isinstance(encoded, str):
        raise BadBody("the JSON has neither data_b64 nor url; other JSON is sent as application/octet-stream")
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadBody(f"data_b64 is not base64: {error}") from error


def _first_file(content_type: str, body: bytes) -> bytes:
    head = b"Content-Type: " + content_type.encode("latin-1", "replace") + b"\r\n\r\n"
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    if not message.is_multipart():
        raise BadBody("the multipart body has no parts")
    for part in message.iter_parts():
        if part.get_filename() is not None:
            return part.get_payload(decode=True) or b""
    raise BadBody("the multipart body has no file")
