"""Submits a job whose warm start has MEGABYTES and follows it: through the public `resontech` client, unmodified.

usage: submit.py NAME MEGABYTES SITES  →  the last JSON line has `id` and `state`
"""

import json
import os
import sys
import time
import zipfile
from pathlib import Path

import torch
from resontech import FederationConfig, ModelConfig, ResonTech, ResonTechConfig, TrainingConfig

sys.path.insert(0, str(Path(__file__).parent))
from ballast_model import BallastModel

ROUNDS = 2

name, megabytes, sites = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
shards = Path("/work") / name
shards.mkdir(parents=True, exist_ok=True)
for site in range(sites):
    with zipfile.ZipFile(shards / f"site-{site + 1}.zip", "w") as shard:
        shard.writestr("nothing.txt", "the model is all there is")
checkpoint = Path("/work") / f"{name}.pt"
torch.save(BallastModel(megabytes).state_dict(), checkpoint)

sdk = ResonTech(
    ResonTechConfig(
        base_url=os.environ["RESON_BASE_URL"],
        s3_access_key_id=os.environ["RESON_S3_ACCESS_KEY_ID"],
        s3_secret_access_key=os.environ["RESON_S3_SECRET_ACCESS_KEY"],
        s3_endpoint=os.environ["RESON_S3_ENDPOINT"],
    )
)
job = sdk.rt_submit(
    model=BallastModel,
    name=name,
    shards_dir=str(shards),
    training=TrainingConfig(),
    federation=FederationConfig(num_rounds=ROUNDS, min_clients=sites),
    model_config=ModelConfig(model_args={"megabytes": megabytes}),
    model_checkpoint=str(checkpoint),
    gpu_models=["cpu"],
    max_price_per_gpu_hour=1.0,
)
checkpoint.unlink()
print(json.dumps({"id": job.id, "state": job.state.value}), flush=True)
while not (state := sdk.jobs.get(job.id).state).is_terminal:
    time.sleep(1)
size = None
if state.value == "FINISHED":
    size = sdk.storage.boto3.head_object(Bucket=sdk.storage.bucket, Key=f"jobs/{name}/model_out/checkpoint.pt")["ContentLength"]
print(json.dumps({"id": job.id, "state": state.value, "modelBytes": size}), flush=True)
