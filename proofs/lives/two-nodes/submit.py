"""Submits the dialling job on two sites and follows it: through the public `resontech` client, unmodified.

usage: submit.py DIAL_JSON WORKER,WORKER  →  the last JSON line has `state` and `found`, what each site's training told
"""

import json
import os
import sys
import time
import zipfile
from pathlib import Path

from resontech import FederationConfig, ResonTech, ResonTechConfig, TrainingConfig

sys.path.insert(0, str(Path(__file__).parent))
from dialing_model import DialingModel

NAME = "dialling"

shards = Path("/work") / NAME
shards.mkdir(parents=True, exist_ok=True)
for site in (1, 2):
    with zipfile.ZipFile(shards / f"site-{site}.zip", "w") as shard:
        shard.writestr("dial.json", sys.argv[1])

sdk = ResonTech(
    ResonTechConfig(
        base_url=os.environ["RESON_BASE_URL"],
        s3_access_key_id=os.environ["RESON_S3_ACCESS_KEY_ID"],
        s3_secret_access_key=os.environ["RESON_S3_SECRET_ACCESS_KEY"],
        s3_endpoint=os.environ["RESON_S3_ENDPOINT"],
    )
)
job = sdk.rt_submit(
    model=DialingModel,
    name=NAME,
    shards_dir=str(shards),
    training=TrainingConfig(),
    federation=FederationConfig(num_rounds=1, min_clients=2),
    worker_ids=sys.argv[2].split(","),
)
while not (state := sdk.jobs.get(job.id).state).is_terminal:
    time.sleep(0.5)
found = {}
if state.value == "FINISHED":
    body = sdk.storage.boto3.get_object(Bucket=sdk.storage.bucket, Key=f"jobs/{NAME}/files_out/metrics.jsonl")["Body"].read()
    for line in map(json.loads, body.decode().splitlines()):
        if line["kind"] == "metric":
            found[line["site"]] = line["metric"]
print(json.dumps({"id": job.id, "state": state.value, "found": found, "error": sdk.dashboard.get_job(job.id).get("error")}), flush=True)
