"""Submits `prepare.py` as a command over the API, with what is given as its arguments, and follows it. Prints one JSON line."""
import json
import os
import sys
import time

import boto3
import httpx

name, *arguments = sys.argv[1:]
api = httpx.Client(base_url=os.environ["RESON_BASE_URL"], headers={"Authorization": f"Bearer {os.environ['RESON_API_KEY']}"}, timeout=60)
store = boto3.client(
    "s3",
    endpoint_url=os.environ["RESON_S3_ENDPOINT"],
    aws_access_key_id=os.environ["RESON_S3_ACCESS_KEY_ID"],
    aws_secret_access_key=os.environ["RESON_S3_SECRET_ACCESS_KEY"],
    region_name="garage",
)
bucket = store.list_buckets()["Buckets"][0]["Name"]
store.upload_file("/example/prepare.py", bucket, f"jobs/{name}/scripts/prepare.py")
for path, text in {"a.csv": "1,2\n3\n", "deep/b.csv": "10\n"}.items():
    store.put_object(Bucket=bucket, Key=f"jobs/{name}/raw/{path}", Body=text.encode())

answer = api.post(
    "/api/tasks",
    json={
        "kind": "command",
        "name": name,
        "scriptPath": f"/jobs/{name}/scripts/prepare.py",
        "inputFolders": [f"/jobs/{name}/raw"],
        "arguments": arguments,
        "environment": {"LEVEL": "7"},
        "gpuModels": ["cpu"],
        "timeLimitMinutes": 10,
    },
)
answer.raise_for_status()
job = answer.json()
while job["status"] in ("QUEUED", "RUNNING"):
    time.sleep(0.5)
    job = api.get(f"/api/tasks/{job['id']}").json()
keys = [found["Key"] for found in store.list_objects_v2(Bucket=bucket, Prefix=f"jobs/{name}/").get("Contents", [])]
texts = {key: store.get_object(Bucket=bucket, Key=key)["Body"].read().decode() for key in keys if "/files_out/" in key}
curves = api.get(f"/api/jobs/{job['id']}/metrics").json()["series"]
print(json.dumps({"id": job["id"], "curves": curves, "status": job["status"], "detail": job["detail"], "texts": texts}), flush=True)
