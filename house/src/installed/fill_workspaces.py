"""Workspaces to submit from: `--hold` submits, through the public client, a job on all shards that sleeps; `--from NAME --count N` copies its
workspace N times inside the bucket, as jobs/fill-0, jobs/fill-1, …"""

import argparse
import json
import os
from pathlib import Path

import boto3
from resontech import FederationConfig, ResonTech, ResonTechConfig, TrainingConfig
from slow_model import SlowModel

parser = argparse.ArgumentParser()
parser.add_argument("--hold", action="store_true")
parser.add_argument("--shards", type=Path)
parser.add_argument("--from", dest="source")
parser.add_argument("--count", type=int, default=0)
arguments = parser.parse_args()

if arguments.hold:
    sdk = ResonTech(
        ResonTechConfig(
            base_url=os.environ["RESON_BASE_URL"],
            s3_access_key_id=os.environ["RESON_S3_ACCESS_KEY_ID"],
            s3_secret_access_key=os.environ["RESON_S3_SECRET_ACCESS_KEY"],
            s3_endpoint=os.environ["RESON_S3_ENDPOINT"],
        )
    )
    job = sdk.rt_submit(
        model=SlowModel,
        name="hold",
        shards_dir=str(arguments.shards),
        training=TrainingConfig(),
        federation=FederationConfig(num_rounds=1, min_clients=2),
        gpu_models=["cpu"],
        max_price_per_gpu_hour=1.0,
    )
    print(json.dumps({"id": job.id}))

s3 = boto3.client(
    "s3",
    endpoint_url=os.environ["RESON_S3_ENDPOINT"],
    region_name=os.environ["RESON_S3_REGION"],
    aws_access_key_id=os.environ["RESON_S3_ACCESS_KEY_ID"],
    aws_secret_access_key=os.environ["RESON_S3_SECRET_ACCESS_KEY"],
)
bucket = os.environ["RESON_S3_BUCKET"]
inputs = ("shards/", "scripts/", "configs/", "requirements/")
if arguments.count > 0:
    root = f"jobs/{arguments.source}/"
    keys = [entry["Key"][len(root) :] for entry in s3.list_objects_v2(Bucket=bucket, Prefix=root)["Contents"]]
    bodies = {key: s3.get_object(Bucket=bucket, Key=root + key)["Body"].read() for key in keys if key.startswith(inputs)}
    for number in range(arguments.count):
        for key, body in bodies.items():
            s3.put_object(Bucket=bucket, Key=f"jobs/fill-{number}/{key}", Body=body)
