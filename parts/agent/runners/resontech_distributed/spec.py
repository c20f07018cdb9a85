"""What the coordinator asks of this runner: `/rt/job/spec.json` (contracts/src/agent/distributed-spec.ts)."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Optional


@dataclass(frozen=True)
class Ports:
    """Each member's processes listen on ports of a range of its own, so that a port says whose it is."""

    first: int
    each: int

    def of(self, index: int) -> range:
        start = self.first + index * self.each
        return range(start, start + self.each)

    def owner(self, port: int, members: int) -> Optional[int]:
        index = (port - self.first) // self.each
        return index if 0 <= index < members else None


@dataclass(frozen=True)
class DistributedSpec:
    site: str
    index: Optional[int]
    """Null: the meeting point, which has no ranks."""
    members: int
    ranks_each: int
    server_name: str
    server_port: int
    ports: Ports
    script: str
    arguments: tuple[str, ...]
    resumes_after: Optional[int]
    """The step that was committed last; null begins anew."""


class SpecError(Exception):
    """The coordinator and this runner do not speak the same format."""


def read_spec(file: Path) -> DistributedSpec:
    raw = json.loads(file.read_text(encoding="utf-8"))
    if raw.get("formatVersion") != 1:
        raise SpecError(f"format {raw.get('formatVersion')!r} is not 1")
    index = raw["index"]
    if index is not None and not 0 <= int(index) < int(raw["members"]):
        raise SpecError(f"member {index!r} of {raw['members']!r}")
    return DistributedSpec(
        site=raw["site"],
        index=None if index is None else int(index),
        members=int(raw["members"]),
        ranks_each=int(raw["ranksEach"]),
        server_name=raw["serverName"],
        server_port=int(raw["serverPort"]),
        ports=Ports(int(raw["ports"]["first"]), int(raw["ports"]["each"])),
        script=raw["script"],
        arguments=tuple(raw["arguments"]),
        resumes_after=None if raw["resumesAfter"] is None else int(raw["resumesAfter"]),
    )
