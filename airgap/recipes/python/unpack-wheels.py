"""Unpacks wheels into one folder without running anything of theirs: `unpack-wheels.py TARGET WHEEL...`

What pip would add (the path of the wheel on the build machine, time stamps, console scripts that name an interpreter) is left out,
so the same wheels make the same tree on every machine. https://packaging.python.org/en/latest/specifications/binary-distribution-format/
"""

import os
import stat
import sys
import zipfile


def place(target, name):
    """Path below `target` for a wheel's member, or None for what a job image does not use."""
    parts = name.split("/")
    if parts[0].endswith(".data"):
        if parts[1] not in ("purelib", "platlib"):
            return None
        parts = parts[2:]
    if name.startswith("/") or any(part in ("", ".", "..") for part in parts):
        raise SystemExit(f"the wheel's member {name!r} leads outside")
    return os.path.join(target, *parts)


def unpack(target, wheel):
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            path = place(target, member.filename)
            if path is None:
                continue
            if os.path.exists(path) and not path.endswith("__init__.py"):
                raise SystemExit(f"{wheel} brings {member.filename}, which another wheel brought before")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with archive.open(member) as source, open(path, "wb") as sink:
                while chunk := source.read(1 << 20):
                    sink.write(chunk)
            executable = (member.external_attr >> 16) & stat.S_IXUSR
            os.chmod(path, 0o755 if executable else 0o644)


for name in sorted(sys.argv[2:], key=os.path.basename):
    unpack(sys.argv[1], name)
