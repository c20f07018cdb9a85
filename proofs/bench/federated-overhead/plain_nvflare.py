"""The peer of the overhead proof: the same job on NVFlare alone, as its own manual runs it.

usage: plain_nvflare.py --model FILE.py --shards DIR [--class NAME] [--rounds N] [--interval S] [--epochs N] [--work DIR]

Meant for the inside of the job image, with the same cores. Provisions with `nvflare provision`, starts a server and one client a
shard by NVFlare's own modules, submits through one flare_api session and waits for FINISHED:COMPLETED. Differences to the platform's
run that favour this one: no containers, no staging, no signing of certificates apart, and `task_request_interval` stands in
the job itself. Prints one JSON line, seconds since the start of provisioning.
"""

import argparse
import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from datetime import datetime
from pathlib import Path

ADMIN = "admin@nvidia.com"
_ROUND = re.compile(r"^(\S+ \S+) - ScatterAndGather - INFO - .*Round (\d+) (started|finished)\.")
_TRAINING = re.compile(r"^(\S+ \S+) - GenericClientExecutor - INFO - .*Executing task: train")


def main() -> None:
    arguments = parse_arguments()
    work = Path(arguments.work or tempfile.mkdtemp(prefix="plain-nvflare-"))
    shards = sorted(arguments.shards.glob("*.zip"))
    sites = [f"site-{n}" for n in range(1, len(shards) + 1)]
    phases = {}
    start = time.time()
    begin = time.monotonic()

    def mark(name: str) -> None:
        phases[name] = round(time.monotonic() - begin, 3)

    kits = provision(work, sites, free_port())
    mark("provisioned")
    processes = [start_server(kits / "localhost")]
    try:
        for site, shard in zip(sites, shards):
            with zipfile.ZipFile(shard) as archive:
                archive.extractall(kits / site / "payload")
            processes.append(start_client(kits / site, site))
        mark("started")
        job = render_job(work, arguments, len(sites))
        session = open_session(kits / ADMIN)
        while len(session.get_system_info().client_info) < len(sites):
            time.sleep(0.1)
        mark("registered")
        job_id = session.submit_job(str(job))
        mark("submitted")
        status = ""
        while not status.startswith("FINISHED"):
            time.sleep(0.1)
            status = session.get_job_meta(job_id).get("status", "")
        mark("finished")
        session.close()
    finally:
        for process in processes:
            process.kill()
    if status != "FINISHED:COMPLETED":
        sys.exit(f"the plain run ended {status}\n" + (kits / "localhost/stdout.txt").read_text()[-4000:])
    server_log = (kits / "localhost/stdout.txt").read_text()
    first = min(stamp(line, start) for site in sites for line in matches(_TRAINING, (kits / site / "stdout.txt").read_text()))
    phases["first_training_step"] = first
    rounds, last = round_times(server_log)
    phases["rounds_ended"] = round(last - start, 3)
    print(json.dumps({"total_s": phases["finished"], "phases_s": phases, "rounds_s": rounds, "status": status}))
    if arguments.work is None:
        shutil.rmtree(work, ignore_errors=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--shards", type=Path, required=True)
    parser.add_argument("--class", dest="model_class", default="DigitsCNN")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--interval", type=float, default=0.2)
    parser.add_argument("--work", type=Path)
    return parser.parse_args()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def provision(work: Path, sites: list[str], port: int) -> Path:
    participants = [
        {"name": "localhost", "type": "server", "org": "nvidia", "fed_learn_port": port, "admin_port": port},
        *({"name": site, "type": "client", "org": "nvidia"} for site in sites),
        {"name": ADMIN, "type": "admin", "org": "nvidia", "role": "project_admin"},
    ]
    builders = [
        {"path": "nvflare.lighter.impl.workspace.WorkspaceBuilder"},
        {"path": "nvflare.lighter.impl.static_file.StaticFileBuilder", "args": {"config_folder": "config", "scheme": "grpc"}},
        {"path": "nvflare.lighter.impl.cert.CertBuilder"},
        {"path": "nvflare.lighter.impl.signature.SignatureBuilder"},
    ]
    project = {"api_version": 3, "name": "plain", "participants": participants, "builders": builders}
    file = work / "project.yml"
    # JSON is YAML.
    file.write_text(json.dumps(project))
    subprocess.run(
        [sys.executable, "-m", "nvflare.cli", "provision", "-p", str(file), "-w", str(work / "workspace")],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(work)},
    )
    kits = work / "workspace/plain/prod_00"
    # NVFlare's default for both stores is one fixed folder of the machine; two runs at once must not share it.
    resources = kits / "localhost/local/resources.json.default"
    resources.write_text(resources.read_text().replace("/tmp/nvflare", str(work / "stores")))
    return kits


def start_server(kit: Path) -> subprocess.Popen:
    return start("nvflare.private.fed.app.server.server_train", kit, ["-s", "fed_server.json"], ["org=nvidia"])


def start_client(kit: Path, site: str) -> subprocess.Popen:
    return start("nvflare.private.fed.app.client.client_train", kit, ["-s", "fed_client.json"], [f"uid={site}", "org=nvidia"])


def start(module: str, kit: Path, options: list[str], settings: list[str]) -> subprocess.Popen:
    log = open(kit / "stdout.txt", "wb")
    return subprocess.Popen(
        [sys.executable, "-u", "-m", module, "-m", str(kit), *options]
        + ["--set", "secure_train=true", *settings, "config_folder=config"],
        stdout=log,
        stderr=subprocess.STDOUT,
        cwd=kit,
        env={
            **os.environ,
            "PYTHONPATH": "/local/custom",
            "HOME": str(kit),
            "RESONTECH_OUT_DIR": str(kit / "out"),
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        },
    )


def render_job(work: Path, arguments: argparse.Namespace, sites: int) -> Path:
    from resontech.rt.builder import RTJobBuilder
    from resontech.rt.config import FederationConfig, ModelConfig, TrainingConfig

    spec = importlib.util.spec_from_file_location("plain_model", arguments.model)
    module = importlib.util.module_from_spec(spec)
    sys.modules["plain_model"] = module
    spec.loader.exec_module(module)
    builder = RTJobBuilder(
        TrainingConfig(local_epochs=arguments.epochs, batch_size=32, learning_rate=0.05),
        FederationConfig(num_rounds=arguments.rounds, min_clients=sites, job_name="plain"),
        ModelConfig(),
        # The clients share one file system here; NVFlare's job process works in its client's own folder.
        data_root="payload",
    )
    scripts = builder.render_scripts(getattr(module, arguments.model_class))
    configs = builder.render_configs()
    server = json.loads(configs["server"])
    server["server"]["task_request_interval"] = arguments.interval
    job = work / "job"
    for folder in ("app/config", "app/custom"):
        (job / folder).mkdir(parents=True)
    (job / "meta.json").write_text(configs["meta"])
    (job / "app/config/config_fed_client.json").write_text(configs["client"])
    (job / "app/config/config_fed_server.json").write_text(json.dumps(server))
    for name, text in scripts.items():
        (job / "app/custom" / name).write_text(text)
    return job


def open_session(kit: Path):
    from nvflare.fuel.flare_api.flare_api import new_secure_session

    os.chdir(kit)
    while True:
        try:
            return new_secure_session(ADMIN, str(kit), timeout=5)
        except Exception:
            time.sleep(0.2)


def matches(pattern: re.Pattern, text: str) -> list[str]:
    return [found.group(1) for found in map(pattern.match, text.splitlines()) if found]


def stamp(text: str, start: float) -> float:
    return round(datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f").timestamp() - start, 3)


def round_times(log: str) -> tuple[list[float], float]:
    """From one round's start to its end, by NVFlare's own log; and when the last one ended, by the clock."""
    times: dict[tuple[int, str], float] = {}
    for found in map(_ROUND.match, log.splitlines()):
        if found:
            times[int(found.group(2)), found.group(3)] = stamp(found.group(1), 0)
    numbers = sorted({number for number, _ in times})
    return [round(times[n, "finished"] - times[n, "started"], 3) for n in numbers], times[numbers[-1], "finished"]


if __name__ == "__main__":
    main()
