"""Says whether trained models are one another's equals, to the bit: `compare_models.py KEY KEY…`, keys of checkpoints in the bucket.

Prints one JSON object: `tensors`, how many the first has, and for each other `same`, whether all of its tensors equal those of the first,
and `differing`, in which of what stands beside the tensors the files differ.
"""

import io
import json
import os
import sys

import boto3
import torch

s3 = boto3.client(
    "s3",
    endpoint_url=os.environ["RESON_S3_ENDPOINT"],
    region_name="us-east-1",
    aws_access_key_id=os.environ["RESON_S3_ACCESS_KEY_ID"],
    aws_secret_access_key=os.environ["RESON_S3_SECRET_ACCESS_KEY"],
)


def read(key):
    body = s3.get_object(Bucket=os.environ["RESON_S3_BUCKET"], Key=key)["Body"].read()
    return torch.load(io.BytesIO(body), map_location="cpu", weights_only=True)


def is_same(one, other):
    return one.keys() == other.keys() and all(torch.equal(torch.as_tensor(one[name]), torch.as_tensor(other[name])) for name in one)


first, *others = map(read, sys.argv[1:])
print(
    json.dumps(
        {
            "tensors": len(first["model"]),
            "same": [is_same(first["model"], other["model"]) for other in others],
            "differing": [sorted(key for key in first.keys() | other.keys() if key != "model" and repr(first.get(key)) != repr(other.get(key))) for other in others],
        }
    )
)
