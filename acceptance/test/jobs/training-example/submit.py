"""Submits the model beside it as the public training examples do: the same names in the environment, calls and requirements. Prints JSON lines."""

import json
import os
import sys
import time
import zipfile
from pathlib import Path

import torch
from dotenv import load_dotenv
from resontech import FederationConfig, ModelConfig, ResonTech, ResonTechConfig, TrainingConfig

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from model_def import Model

load_dotenv(HERE / ".env")
name = sys.argv[1]
shards = Path("/work") / name
shards.mkdir(parents=True)
torch.save({"x": torch.rand(256, 1, 28, 28), "y": torch.randint(0, 10, (256,))}, shards / "train.pt")
with zipfile.ZipFile(shards / "shard_0.zip", "w") as shard:
    shard.write(shards / "train.pt", "train.pt")

sdk = ResonTech(
    ResonTechConfig(
        base_url=os.environ["RESON_BASE_URL"],
        s3_endpoint=os.environ["RESON_S3_ENDPOINT"],
        platform_api_key=os.environ["RESON_API_KEY"],
        s3_access_key_id=os.environ["RESON_S3_KEY"],
        s3_secret_access_key=os.environ["RESON_S3_SECRET"],
    )
)
workers = sdk.dashboard.worker_stats().online_count
job = sdk.rt_submit(
    model=Model,
    name=name,
    shards_dir=str(shards),
    requirements_txt=str(HERE / "requirements.txt"),
    training=TrainingConfig(local_epochs=1, batch_size=64, learning_rate=1e-3, extra={"weight_decay": 1e-4, "num_workers": 2}),
    federation=FederationConfig(num_rounds=3, min_clients=1, job_name=name),
    model_config=ModelConfig(model_args={"num_classes": 10, "dropout": 0.1}),
    gpu_models=["cpu"],
    max_price_per_gpu_hour=1.0,
)
while not (state := sdk.jobs.get(job.id).state).is_terminal:
    time.sleep(0.5)
keys = [found["Key"] for found in sdk.storage.boto3.list_objects_v2(Bucket=sdk.storage.bucket, Prefix=f"jobs/{name}/")["Contents"]]
raw = sdk.dashboard.get_job(job.id)
told = {"id": job.id, "state": state.value, "workers": workers, "error": raw.get("error"), "warnings": raw.get("warnings"), "keys": keys}
print(json.dumps(told), flush=True)
