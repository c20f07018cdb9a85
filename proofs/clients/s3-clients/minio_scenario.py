"""MinIO's Python client through the S3 door, told no region: `host:port bucket big-file`; prints one word for each step that held."""

import io
import os
import sys

import urllib3
from minio import Minio
from minio.commonconfig import REPLACE, CopySource
from minio.deleteobjects import DeleteObject

host, bucket, big = sys.argv[1:4]
s3 = Minio(
    host,
    os.environ["AWS_ACCESS_KEY_ID"],
    os.environ["AWS_SECRET_ACCESS_KEY"],
    http_client=urllib3.PoolManager(ca_certs=os.environ["AWS_CA_BUNDLE"]),
)
assert [one.name for one in s3.list_buckets()] == [bucket]
print("buckets")
s3.put_object(bucket, "data/what?", io.BytesIO(b"hello"), 5, metadata={"who": "me"})
s3.copy_object(
    bucket,
    "data/copy",
    CopySource(bucket, "data/what?"),
    metadata={"who": "you"},
    metadata_directive=REPLACE,
)
assert s3.stat_object(bucket, "data/copy").metadata["x-amz-meta-who"] == "you"
print("copy")
s3.fput_object(bucket, "data/big", big, part_size=5 * 1024 * 1024)
assert s3.stat_object(bucket, "data/big").size == os.path.getsize(big)
print("parts")
found = [one.object_name for one in s3.list_objects(bucket, recursive=True, include_user_meta=True)]
assert found == ["data/big", "data/copy", "data/what?"], found
assert list(s3.remove_objects(bucket, [DeleteObject(key) for key in found])) == []
print("delete")
