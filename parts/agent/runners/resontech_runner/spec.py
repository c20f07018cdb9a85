"""What the agent asks of this runner: `/rt/job/spec.json` (contracts/src/agent/runner.ts, RunnerSpec)."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Optional


@dataclass(frozen=True)
class Resume:
    """From where a new attempt goes on; rounds as the workflow numbers them."""

    start_round: int
    rounds_left: int
    model_file: Path


@dataclass(frozen=True)
class RunnerSpec:
    role: str
    attempt: str
    org: str
    server_name: str
    server_port: int
    sites: tuple[str, ...]
    site: Optional[str]
    min_clients: int
    num_rounds: Optional[int]
    task_request_interval_s: float
    resume: Optional["Resume"]
    refuses_non_finite: bool = False


class SpecError(Exception):
    """The agent and this runner do not speak the same format."""


def read_spec(file: Path) -> RunnerSpec:
    raw = json.loads(file.read_text(encoding="utf-8"))
    if raw.get("formatVersion") != 1:
        raise SpecError(f"format {raw.get('formatVersion')!r} is not 1")
    if raw["role"] not in ("server", "client") or (raw["role"] == "client") != isinstance(raw["site"], str):
        raise SpecError(f"role {raw['role']!r} and site {raw['site']!r} do not fit")
    return RunnerSpec(
        role=raw["role"],
        attempt=raw["attempt"],
        org=raw["org"],
        server_name=raw["serverName"],
        server_port=int(raw["serverPort"]),
        sites=tuple(raw["sites"]),
        site=raw["site"],
        min_clients=int(raw["minClients"]),
        num_rounds=raw["numRounds"],
        task_request_interval_s=float(raw["taskRequestIntervalS"]),
        resume=_resume(raw["resume"]),
        # A coordinator of the release before says nothing of it.
        refuses_non_finite=raw.get("refusesNonFinite") is True,
    )


def _resume(raw: Optional[dict]) -> Optional[Resume]:
    if raw is None:
        return None
    return Resume(int(raw["startRound"]), int(raw["roundsLeft"]), Path(raw["modelFile"]))
