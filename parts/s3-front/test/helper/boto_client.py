"""What boto3 does by itself, run against the endpoint of the environment; prints one JSON line."""

import io
import json
import os
import sys
import urllib.request

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

endpoint, bucket, style = sys.argv[1:4]
extra = {} if style == "default" else {"request_checksum_calculation": style}
s3 = boto3.client(
    "s3",
    endpoint_url=endpoint,
    region_name="garage",
    config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}, **extra),
)
done = {}

s3.put_object(Bucket=bucket, Key="a/one", Body=b"hello", Metadata={"who": "me"})
got = s3.get_object(Bucket=bucket, Key="a/one")
done["get"] = got["Body"].read().decode() + got["Metadata"]["who"]
done["range"] = s3.get_object(Bucket=bucket, Key="a/one", Range="bytes=1-3")["Body"].read().decode()
done["head"] = s3.head_object(Bucket=bucket, Key="a/one")["ContentLength"]

big = os.urandom(17 * 1024 * 1024)
transfer = TransferConfig(multipart_threshold=10 * 1024 * 1024, multipart_chunksize=6 * 1024 * 1024, max_concurrency=4)
s3.upload_fileobj(io.BytesIO(big), bucket, "a/big", Config=transfer)
back = io.BytesIO()
s3.download_fileobj(bucket, "a/big", back, Config=transfer)
done["multipart"] = back.getvalue() == big

s3.copy_object(Bucket=bucket, Key="a/copy", CopySource={"Bucket": bucket, "Key": "a/one"})
done["list"] = [o["Key"] for o in s3.list_objects_v2(Bucket=bucket, Prefix="a/")["Contents"]]
done["versions"] = len(s3.list_object_versions(Bucket=bucket, Prefix="a/one")["Versions"])
url = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "a/copy"}, ExpiresIn=60)
import ssl

context = ssl.create_default_context(cafile=os.environ["AWS_CA_BUNDLE"])
done["presigned"] = urllib.request.urlopen(url, context=context).read().decode()
put = s3.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": "a/put"}, ExpiresIn=60)
done["presigned_put"] = urllib.request.urlopen(urllib.request.Request(put, data=b"put", method="PUT"), context=context).status

upload = s3.create_multipart_upload(Bucket=bucket, Key="a/stale")["UploadId"]
done["uploads"] = [u["Key"] for u in s3.list_multipart_uploads(Bucket=bucket, Prefix="a/")["Uploads"]]
s3.abort_multipart_upload(Bucket=bucket, Key="a/stale", UploadId=upload)

deleted = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "a/one"}, {"Key": "a/copy"}]})
done["deleted"] = sorted(o["Key"] for o in deleted["Deleted"])
for name, call in {
    "missing": lambda: s3.get_object(Bucket=bucket, Key="a/one"),
    "policy": lambda: s3.put_bucket_policy(Bucket=bucket, Policy="{}"),
    "lifecycle": lambda: s3.get_bucket_lifecycle_configuration(Bucket=bucket),
    "quota": lambda: s3.put_object(Bucket=bucket, Key="a/huge", Body=bytes(40 * 1024 * 1024)),
}.items():
    try:
        call()
        done[name] = "no error"
    except ClientError as error:
        done[name] = error.response["Error"]["Code"]
print(json.dumps(done))
