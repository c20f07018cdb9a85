"""Submits one of the models beside it on tiny shards and follows it; `--cancel` cancels once it runs. Prints JSON lines, the last with what it logged."""
import argparse
import json
import os
import sys
import time
import zipfile
from pathlib import Path

import httpx
from resontech import FederationConfig, ResonTech, ResonTechConfig, TrainingConfig

sys.path.insert(0, str(Path(__file__).parent))

parser = argparse.ArgumentParser()
parser.add_argument("model", choices=["HostileModel", "SlowModel"])
parser.add_argument("--name", required=True)
parser.add_argument("--cancel", action="store_true")
parser.add_argument("--sites", type=int, default=1)
parser.add_argument("--rounds", type=int, default=1)
parser.add_argument("--file", action="append", default=[], metavar="NAME=TEXT", help="one more file of each shard")
arguments = parser.parse_args()

if arguments.model == "HostileModel":
    from hostile_model import HostileModel as Model
else:
    from slow_model import SlowModel as Model

shards = Path("/work") / arguments.name
shards.mkdir(parents=True)
for site in range(1, arguments.sites + 1):
    with zipfile.ZipFile(shards / f"site-{site}.zip", "w") as shard:
        shard.writestr("data.txt", "1")
        for name, _, text in (file.partition("=") for file in arguments.file):
            shard.writestr(name, text)

sdk = ResonTech(
    ResonTechConfig(
        base_url=os.environ["RESON_BASE_URL"],
        s3_access_key_id=os.environ["RESON_S3_ACCESS_KEY_ID"],
        s3_secret_access_key=os.environ["RESON_S3_SECRET_ACCESS_KEY"],
        s3_endpoint=os.environ["RESON_S3_ENDPOINT"],
    )
)
job = sdk.rt_submit(
    model=Model,
    name=arguments.name,
    shards_dir=str(shards),
    training=TrainingConfig(),
    federation=FederationConfig(num_rounds=arguments.rounds, min_clients=arguments.sites),
    gpu_models=["cpu"],
    max_price_per_gpu_hour=1.0,
)
cancelled = False
while True:
    state = sdk.jobs.get(job.id).state
    if state.value == "RUNNING" and arguments.cancel and not cancelled:
        answer = httpx.post(
            f"{os.environ['RESON_BASE_URL']}/api/tasks/{job.id}/cancel", headers={"Authorization": f"Bearer {os.environ['RESON_API_KEY']}"}
        )
        print(json.dumps({"cancel": answer.status_code}), flush=True)
        cancelled = True
    if state.is_terminal:
        break
    time.sleep(0.5)
raw = sdk.dashboard.get_job(job.id)
metrics = []
if not arguments.cancel:
    body = sdk.storage.boto3.get_object(Bucket=sdk.storage.bucket, Key=f"jobs/{arguments.name}/files_out/metrics.jsonl")["Body"].read()
    metrics = [line["metric"] for line in map(json.loads, body.decode().splitlines()) if line["kind"] == "metric"]
told = {"id": job.id, "state": state.value, "error": raw.get("error"), "detail": raw.get("detail"), "metrics": metrics}
print(json.dumps(told), flush=True)
