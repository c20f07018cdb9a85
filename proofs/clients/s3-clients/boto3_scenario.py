"""boto3 through the S3 door: `endpoint bucket big-file over-quota-bytes`; prints one word for each step that held."""

import io
import os
import sys

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

endpoint, bucket, big_file, over = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])


def client(**keys):
    config = Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1})
    return boto3.client("s3", endpoint_url=endpoint, region_name="garage", config=config, **keys)


def refused(code, call):
    try:
        call()
    except ClientError as error:
        assert error.response["Error"]["Code"] == code, error
        return
    raise AssertionError(f"no {code}")


s3 = client()
assert [b["Name"] for b in s3.list_buckets()["Buckets"]] == [bucket]
print("buckets")
refused("BucketAlreadyOwnedByYou", lambda: s3.create_bucket(Bucket=bucket))
print("own-bucket")
key = "data/a b/ü+.txt"
s3.put_object(Bucket=bucket, Key=key, Body=b"hello", Tagging="kind=test")
assert s3.get_object(Bucket=bucket, Key=key)["Body"].read() == b"hello"
assert s3.get_object_tagging(Bucket=bucket, Key=key)["TagSet"] == [{"Key": "kind", "Value": "test"}]
assert s3.get_object_attributes(Bucket=bucket, Key=key, ObjectAttributes=["ObjectSize"])["ObjectSize"] == 5
print("small")
transfer = TransferConfig(multipart_threshold=8 * 1024 * 1024, multipart_chunksize=8 * 1024 * 1024)
s3.upload_file(big_file, bucket, "data/big", Config=transfer)
back = io.BytesIO()
s3.download_fileobj(bucket, "data/big", back, Config=transfer)
with open(big_file, "rb") as file:
    assert back.getvalue() == file.read()
print("parts")
s3.copy({"Bucket": bucket, "Key": "data/big"}, bucket, "data/copy", Config=transfer)
assert s3.head_object(Bucket=bucket, Key="data/copy")["ContentLength"] == os.path.getsize(big_file)
print("copy")
deleted = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key}, {"Key": "a/../b"}]})
assert [o["Key"] for o in deleted["Deleted"]] == [key] and [o["Key"] for o in deleted["Errors"]] == ["a/../b"]
print("delete")
wrong = client(aws_access_key_id=os.environ["AWS_ACCESS_KEY_ID"], aws_secret_access_key="x" * 40)
for size in (20, 3_000_000, 20_000_000):
    refused("SignatureDoesNotMatch", lambda size=size: wrong.put_object(Bucket=bucket, Key="x", Body=bytes(size)))
    refused("PreconditionFailed", lambda size=size: s3.put_object(Bucket=bucket, Key="data/big", Body=bytes(size), IfNoneMatch="*"))
refused("QuotaExceeded", lambda: s3.put_object(Bucket=bucket, Key="x", Body=bytes(over)))
refused("AccessDenied", lambda: s3.put_object(Bucket=bucket, Key="logs/x", Body=bytes(5_000_000)))
print("refusals")
