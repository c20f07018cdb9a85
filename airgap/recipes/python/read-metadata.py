#!/usr/bin/env python3
"""Print, as JSON, the METADATA file of each wheel: URL of the wheel -> text. The URLs come on standard input, a line each.

An index may serve the file beside the wheel (PEP 658). Otherwise the few kilobytes that hold it are asked from the wheel's own end.
Python asks, because it goes the ways that pip goes: proxies, certificates."""
import io
import json
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from urllib.error import HTTPError
from urllib.request import Request, urlopen


class RemoteFile(io.RawIOBase):
    """A file behind HTTP that answers ranges; each read is a request."""

    def __init__(self, url):
        self.url, self.at = url, 0
        with urlopen(Request(url, method="HEAD"), timeout=60) as answer:
            self.size = int(answer.headers["Content-Length"])

    def seekable(self):
        return True

    def readable(self):
        return True

    def seek(self, offset, whence=io.SEEK_SET):
        self.at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.at, io.SEEK_END: self.size}[whence]
        return self.at

    def tell(self):
        return self.at

    def readinto(self, buffer):
        last = min(self.at + len(buffer), self.size) - 1
        if last < self.at:
            return 0
        request = Request(self.url, headers={"Range": f"bytes={self.at}-{last}"})
        with urlopen(request, timeout=60) as answer:
            if answer.status != 206:
                raise OSError(f"{self.url} answers no ranges")
            data = answer.read()
        buffer[: len(data)] = data
        self.at += len(data)
        return len(data)


def read(url):
    try:
        with urlopen(url + ".metadata", timeout=60) as answer:
            return answer.read().decode("utf-8", "replace")
    except HTTPError as error:
        if error.code != 404:
            raise
    with zipfile.ZipFile(io.BufferedReader(RemoteFile(url), 65536)) as wheel:
        name = next(n for n in wheel.namelist() if n.count("/") == 1 and n.endswith(".dist-info/METADATA"))
        return wheel.read(name).decode("utf-8", "replace")


urls = sys.stdin.read().split()
with ThreadPoolExecutor(8) as threads:
    print(json.dumps(dict(zip(urls, threads.map(read, urls)))))
