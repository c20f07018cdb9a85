"""Tells a program where its libraries lie: `bind-libraries.py PROGRAM RUNPATH OLD=NEW...`, the file is changed in place.

Each needed library OLD is asked for by the name NEW, first in the folders of RUNPATH. Nothing moves: the new strings go into the unused end of
the page behind the string table's segment, and DT_RUNPATH into a spare entry of the dynamic table. ELF-64, little endian; field names as in
https://refspecs.linuxfoundation.org/elf/gabi4+/ch5.dynamic.html
"""

import struct
import sys

PT_LOAD, PT_DYNAMIC, PAGE = 1, 2, 4096
DT_NULL, DT_NEEDED, DT_STRTAB, DT_STRSZ, DT_RPATH, DT_RUNPATH = 0, 1, 5, 10, 15, 29
DT_VERNEED, DT_VERNEEDNUM = 0x6FFFFFFE, 0x6FFFFFFF
EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
PHDR = struct.Struct("<IIQQQQQQ")
DYN = struct.Struct("<qQ")
VERNEED = struct.Struct("<HHIII")


def bind(path, runpath, names):
    with open(path, "rb") as file:
        image = bytearray(file.read())
    header = EHDR.unpack_from(image)
    phoff, phentsize, phnum = header[5], header[9], header[10]
    if header[0][:6] != b"\x7fELF\x02\x01" or phentsize != PHDR.size:
        raise SystemExit(f"{path} is no 64-bit little-endian ELF file")
    segments = [PHDR.unpack_from(image, phoff + i * phentsize) for i in range(phnum)]
    loads = [s for s in segments if s[0] == PT_LOAD]

    def offset_of(address):
        for _, _, offset, vaddr, _, filesz, _, _ in loads:
            if vaddr <= address < vaddr + filesz:
                return offset + address - vaddr
        raise SystemExit(f"{path}: no loaded segment holds the address {address:#x}")

    dynamic = next(s for s in segments if s[0] == PT_DYNAMIC)
    entries = [list(DYN.unpack_from(image, dynamic[2] + i * DYN.size)) for i in range(dynamic[5] // DYN.size)]
    used = next(i for i, (tag, _) in enumerate(entries) if tag == DT_NULL)
    value = dict(map(tuple, entries[:used]))
    if DT_RPATH in value or DT_RUNPATH in value:
        raise SystemExit(f"{path} has a run path already")
    if used + 1 >= len(entries):
        raise SystemExit(f"{path} has no spare entry in its dynamic table")

    strtab = value[DT_STRTAB]
    index, holder = next((i, s) for i, s in enumerate(segments) if s[0] == PT_LOAD and s[3] <= strtab < s[3] + s[5])
    if holder[5] != holder[6]:
        raise SystemExit(f"{path}: the string table's segment has no end in the file")
    end = holder[2] + holder[5]
    room = min([-(-end // PAGE) * PAGE] + [s[2] for s in loads if s[2] >= end]) - end
    places, added = {}, b""
    for text in [runpath, *names.values()]:
        places[text] = holder[3] + holder[5] + len(added) - strtab
        added += text.encode() + b"\0"
    if len(added) > room or any(image[end : end + len(added)]):
        raise SystemExit(f"{path} has {room} unused bytes behind its string table's segment, not {len(added)}")
    image[end : end + len(added)] = added
    grown = holder[5] + len(added)
    PHDR.pack_into(image, phoff + index * phentsize, *holder[:5], grown, grown, holder[7])

    strings = offset_of(strtab)

    def text_at(at):
        return bytes(image[strings + at : image.index(0, strings + at)]).decode()

    missing = set(names)
    for entry in entries[:used]:
        if entry[0] == DT_STRSZ:
            entry[1] = places[runpath] + len(added)
        if entry[0] == DT_NEEDED and (old := text_at(entry[1])) in names:
            entry[1] = places[names[old]]
            missing.discard(old)
    if missing:
        raise SystemExit(f"{path} does not need {', '.join(sorted(missing))}")
    entries[used] = [DT_RUNPATH, places[runpath]]
    for i, entry in enumerate(entries):
        DYN.pack_into(image, dynamic[2] + i * DYN.size, *entry)

    # The versions wanted of a library name it again; the loader looks it up by that name.
    at = offset_of(value[DT_VERNEED])
    for _ in range(value[DT_VERNEEDNUM]):
        version, count, name, first, following = VERNEED.unpack_from(image, at)
        if (old := text_at(name)) in names:
            VERNEED.pack_into(image, at, version, count, places[names[old]], first, following)
        at += following

    with open(path, "wb") as file:
        file.write(image)


pairs = [argument.split("=", 1) for argument in sys.argv[3:]]
bind(sys.argv[1], sys.argv[2], {old: new for old, new in pairs})
