"""Submits one of the models beside it on one tiny shard and follows it; `--cancel` cancels once it runs. Prints JSON lines."""
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
parser.add_argument("model", choices=["FailingModel", "SlowModel"])
parser.add_argument("--name", required=True)
parser.add_argument("--cancel", action="store_true")
arguments = parser.parse_args()

if arguments.model == "FailingModel":
    from failing_model import FailingModel as Model
else:
    from slow_model import SlowModel as Model

shards = Path("/work") / arguments.name
shards.mkdir(parents=True)
with zipfile.ZipFile(shards / "site-1.zip", "w") as shard:
    shard.writestr("data.txt", "1")

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
    federation=FederationConfig(num_rounds=1, min_clients=1),
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
print(json.dumps({"id": job.id, "state": state.value, "error": raw.get("error"), "detail": raw.get("detail")}), flush=True)
