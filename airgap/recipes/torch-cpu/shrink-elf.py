"""Cuts out of shared libraries what a process without a GPU never reads: `shrink-elf.py LIBRARY...`

Device code (whole pages of `.nv_fatbin`, which only the CUDA runtime reads), the static symbol tables and the section headers go. Every
address stays as it was, so nothing is linked or relocated anew: a cut leaves a hole between two loaded segments. ELF-64, little endian;
field names as in https://refspecs.linuxfoundation.org/elf/gabi4+/ch5.pheader.html
"""

import os
import struct
import sys

PT_LOAD, PT_NOTE, PAGE = 1, 4, 4096
EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
PHDR = struct.Struct("<IIQQQQQQ")
SHDR = struct.Struct("<IIQQQQIIQQ")


def fatbin_pages(image, header):
    """File range of the whole pages inside `.nv_fatbin`, or None."""
    shoff, shentsize, shnum, shstrndx = header[6], header[11], header[12], header[13]
    sections = [SHDR.unpack_from(image, shoff + i * shentsize) for i in range(shnum)]
    names = sections[shstrndx][4]
    for section in sections:
        start = names + section[0]
        if bytes(image[start : start + 11]) == b".nv_fatbin\0":
            first, last = -(-section[4] // PAGE) * PAGE, (section[4] + section[5]) // PAGE * PAGE
            return (first, last) if last > first else None
    return None


def split(segment, cut):
    """A loaded segment without the pages of the cut: one or two segments."""
    kind, flags, offset, vaddr, paddr, filesz, memsz, align = segment
    first, last = cut
    if not offset < first < last < offset + filesz:
        return [segment]
    lower, skipped = first - offset, last - offset
    return [
        (kind, flags, offset, vaddr, paddr, lower, lower, align),
        (kind, flags, last, vaddr + skipped, paddr + skipped, filesz - skipped, memsz - skipped, align),
    ]


def shrink(path):
    with open(path, "rb") as file:
        image = memoryview(file.read())
    header = EHDR.unpack_from(image)
    phoff, phentsize, phnum = header[5], header[9], header[10]
    if header[0][:6] != b"\x7fELF\x02\x01" or phentsize != PHDR.size:
        raise SystemExit(f"{path} is no 64-bit little-endian ELF file")
    segments = [PHDR.unpack_from(image, phoff + i * phentsize) for i in range(phnum)]
    cut = fatbin_pages(image, header)
    kept = [part for s in segments for part in (split(s, cut) if cut and s[0] == PT_LOAD else [s])]
    if len(kept) > phnum:
        # The table has no room for one more: notes are for debuggers and core dumps.
        kept = [s for s in kept if s[0] != PT_NOTE]
    if len(kept) > phnum or phoff + len(kept) * PHDR.size > kept[0][2] + kept[0][5] or kept[0][2] != 0:
        raise SystemExit(f"{path} has no room in its program header table")

    # Loaded bytes move together; each piece keeps its offset within a page, as mmap demands.
    moved, end = {}, 0
    for s in sorted((s for s in kept if s[0] == PT_LOAD), key=lambda s: s[2]):
        end += (s[2] - end) % PAGE
        moved[s] = end
        end += s[5]

    def new_offset(segment):
        for piece, offset in moved.items():
            if piece[2] <= segment[2] and segment[2] + segment[5] <= piece[2] + piece[5]:
                return offset + segment[2] - piece[2]
        return 0 if segment[5] == 0 else None

    table = []
    for s in kept:
        offset = new_offset(s)
        if offset is None:
            raise SystemExit(f"{path} has a program header of type {s[0]:#x} outside what is loaded")
        table.append(PHDR.pack(s[0], s[1], offset, *s[3:]))
    out = bytearray(end)
    for piece, offset in moved.items():
        out[offset : offset + piece[5]] = image[piece[2] : piece[2] + piece[5]]
    fields = list(header)
    fields[6], fields[10], fields[11], fields[12], fields[13] = 0, len(table), 0, 0, 0
    out[: EHDR.size] = EHDR.pack(*fields)
    out[phoff : phoff + len(table) * PHDR.size] = b"".join(table)
    with open(path, "wb") as file:
        file.write(out)
    print(f"{os.path.basename(path)}: {len(image)} -> {len(out)} bytes")


for library in sys.argv[1:]:
    shrink(library)
