"""Submits the recorded job through the public client and ends once it is accepted. Prints one JSON object: `id`, `resumable`.

usage: submit.py --name NAME --rounds N --ticks N [--sites N] [--quorum N] [--workers ID,ID]
"""

import argparse
import inspect
import json
import os
import zipfile
from pathlib import Path

from resontech import FederationConfig, ResonTech, ResonTechConfig, TrainingConfig

from recorded_model import RecordedModel

parser = argparse.ArgumentParser()
parser.add_argument("--name", required=True)
parser.add_argument("--rounds", type=int, required=True)
parser.add_argument("--ticks", type=int, required=True, help="half seconds of each round")
parser.add_argument("--sites", type=int, default=2)
parser.add_argument("--quorum", type=int, help="sites that a round needs; all unless said")
parser.add_argument("--workers", type=lambda text: text.split(","), help="one for each site, in its order; else the server chooses")
arguments = parser.parse_args()

shards = Path("/work/shards") / arguments.name
shards.mkdir(parents=True)
for site in range(arguments.sites):
    with zipfile.ZipFile(shards / f"site-{site + 1}.zip", "w") as shard:
        shard.writestr("data.txt", str(site))

sdk = ResonTech(
    ResonTechConfig(
        base_url=os.environ["RESON_BASE_URL"],
        s3_access_key_id=os.environ["RESON_S3_ACCESS_KEY_ID"],
        s3_secret_access_key=os.environ["RESON_S3_SECRET_ACCESS_KEY"],
        s3_endpoint=os.environ["RESON_S3_ENDPOINT"],
    )
)
federation = {"num_rounds": arguments.rounds, "min_clients": arguments.quorum or arguments.sites, "job_name": arguments.name}
# How long a round waits for the others once the quorum has answered.
if "wait_time_after_min_received" in inspect.signature(FederationConfig).parameters:
    federation["wait_time_after_min_received"] = 2
if arguments.workers is None:
    placement = {"gpu_models": ["cpu"], "max_price_per_gpu_hour": 1.0}
else:
    placement = {"worker_ids": arguments.workers}
job = sdk.rt_submit(
    model=RecordedModel,
    name=arguments.name,
    shards_dir=str(shards),
    training=TrainingConfig(local_epochs=arguments.ticks),
    federation=FederationConfig(**federation),
    **placement,
)
detail = sdk.dashboard.get_job(job.id).get("detail") or {}
print(json.dumps({"id": job.id, "resumable": detail.get("resumable")}), flush=True)
