"""Top-level modules that an image's Python can import: `list-modules.py LIBRARY_FOLDER WHEEL...`, as a JSON list.

The folder is the standard library of the image's root; of the wheels only their lists of files are read.
"""

import json
import os
import sys
import zipfile

# Compiled modules carry a tag: `_C.cpython-311-x86_64-linux-gnu.so`, `_imaging.abi3.so`.
_CODE = (".py", ".so")


def of_folder(folder):
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name == "lib-dynload":
            yield from of_folder(path)
        elif name.endswith(_CODE) or os.path.isfile(os.path.join(path, "__init__.py")):
            yield name.split(".", 1)[0]


def of_wheel(file):
    with zipfile.ZipFile(file) as wheel:
        for path in wheel.namelist():
            top = path.split("/", 1)[0]
            if path.endswith(_CODE) and not top.endswith((".dist-info", ".data", ".libs")):
                yield top.split(".", 1)[0]


def main():
    library, *wheels = sys.argv[1:]
    found = {*sys.builtin_module_names, *of_folder(library)}
    for wheel in wheels:
        found.update(of_wheel(wheel))
    json.dump(sorted(name for name in found if name.isidentifier()), sys.stdout)


if __name__ == "__main__":
    main()
