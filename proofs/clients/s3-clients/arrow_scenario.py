"""Arrow's file system through the S3 door: `endpoint bucket`; prints one word for each step that held."""

import os
import sys

from pyarrow import fs

endpoint, bucket = sys.argv[1:3]
s3 = fs.S3FileSystem(
    access_key=os.environ["AWS_ACCESS_KEY_ID"],
    secret_key=os.environ["AWS_SECRET_ACCESS_KEY"],
    endpoint_override=endpoint,
    region="garage",
)


def paths():
    found = s3.get_file_info(fs.FileSelector(bucket, recursive=True))
    return sorted(info.path.removeprefix(f"{bucket}/") for info in found if info.is_file)


s3.create_dir(f"{bucket}/made/deep", recursive=True)
with s3.open_output_stream(f"{bucket}/made/deep/big") as stream:
    stream.write(bytes(12 * 1024 * 1024))
print("parts")
with s3.open_output_stream(f"{bucket}/unmade/what?") as stream:
    stream.write(b"hello")
s3.copy_file(f"{bucket}/unmade/what?", f"{bucket}/unmade/copy")
s3.move(f"{bucket}/unmade/copy", f"{bucket}/unmade/moved")
assert paths() == ["made/deep/big", "unmade/moved", "unmade/what?"], paths()
with s3.open_input_file(f"{bucket}/unmade/moved") as stream:
    assert stream.read() == b"hello"
print("copy")
s3.delete_dir(f"{bucket}/made")
s3.delete_dir(f"{bucket}/unmade")
assert paths() == [], paths()
print("delete")
