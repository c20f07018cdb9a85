"""Makes Node one file that needs no library of its own beside it: `stand-alone.py PROGRAM`, the file is changed in place.

Of libatomic Node 26 calls one function, `__atomic_compare_exchange`, and always for 8 bytes. Its answer goes into the unused end of the page
behind the code, the one relocation that asked for it names that place, and the library is asked for no more. Another size stops the program.
What only debuggers read, behind all that is loaded, is cut off. ELF-64, x86-64; field names as in
https://refspecs.linuxfoundation.org/elf/gabi4+/ch5.dynamic.html and https://gitlab.com/x86-psABIs/x86-64-ABI
"""

import struct
import sys

LIBRARY, FUNCTION = "libatomic.so.1", "__atomic_compare_exchange"
PT_LOAD, PT_DYNAMIC, PF_X, PAGE = 1, 2, 1, 4096
DT_NULL, DT_NEEDED, DT_PLTRELSZ, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_JMPREL = 0, 1, 2, 5, 6, 7, 8, 23
DT_VERSYM, DT_VERNEED, DT_VERNEEDNUM = 0x6FFFFFF0, 0x6FFFFFFE, 0x6FFFFFFF
SHF_ALLOC = 2
R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE = 7, 8
EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
PHDR = struct.Struct("<IIQQQQQQ")
DYN = struct.Struct("<qQ")
SYM = struct.Struct("<IBBHQQ")
RELA = struct.Struct("<QQq")
SHDR = struct.Struct("<IIQQQQIIQQ")
VERNEED = struct.Struct("<HHIII")
VERNAUX = struct.Struct("<IHHII")

# bool __atomic_compare_exchange(size_t size, void *at, void *expected, void *desired, int, int), in the registers of the x86-64 ABI.
CODE = bytes.fromhex(
    "f30f1efa"  # endbr64
    "4883ff08"  # cmp    rdi, 8
    "7519"  # jne    other
    "488b02"  # mov    rax, [rdx]
    "488b09"  # mov    rcx, [rcx]
    "f0480fb10e"  # lock cmpxchg [rsi], rcx
    "7406"  # je     done
    "488902"  # mov    [rdx], rax
    "31c0"  # xor    eax, eax
    "c3"  # ret
    "b801000000"  # done: mov eax, 1
    "c3"  # ret
    "0f0b"  # other: ud2
)


def stand_alone(path):
    with open(path, "rb") as file:
        image = bytearray(file.read())
    header = list(EHDR.unpack_from(image))
    phoff, phentsize, phnum = header[5], header[9], header[10]
    if header[0][:6] != b"\x7fELF\x02\x01" or header[2] != 62 or phentsize != PHDR.size:
        raise SystemExit(f"{path} is no ELF file for x86-64")
    segments = [PHDR.unpack_from(image, phoff + i * phentsize) for i in range(phnum)]
    loads = [s for s in segments if s[0] == PT_LOAD]

    def offset_of(address):
        for _, _, offset, vaddr, _, filesz, _, _ in loads:
            if vaddr <= address < vaddr + filesz:
                return offset + address - vaddr
        raise SystemExit(f"{path}: no loaded segment holds the address {address:#x}")

    dynamic = next(s for s in segments if s[0] == PT_DYNAMIC)
    entries = [list(DYN.unpack_from(image, dynamic[2] + i * DYN.size)) for i in range(dynamic[5] // DYN.size)]
    used = entries[: next(i for i, (tag, _) in enumerate(entries) if tag == DT_NULL)]
    value = dict(map(tuple, used))
    strings = offset_of(value[DT_STRTAB])

    def text_at(at):
        return bytes(image[strings + at : image.index(0, strings + at)]).decode()

    # The versions of the library leave the chain of those that are wanted.
    versions, before, at = set(), None, offset_of(value[DT_VERNEED])
    for _ in range(value[DT_VERNEEDNUM]):
        _, count, name, first, following = VERNEED.unpack_from(image, at)
        if text_at(name) == LIBRARY:
            aux = at + first
            for _ in range(count):
                _, _, other, _, more = VERNAUX.unpack_from(image, aux)
                versions.add(other)
                aux += more
            if before is None:
                value[DT_VERNEED] += following
            else:
                fields = list(VERNEED.unpack_from(image, before))
                fields[4] = fields[4] + following if following else 0
                VERNEED.pack_into(image, before, *fields)
            value[DT_VERNEEDNUM] -= 1
            break
        before, at = at, at + following
    if not versions:
        raise SystemExit(f"{path} wants no version of {LIBRARY}")

    index, holder = next((i, s) for i, s in enumerate(segments) if s[0] == PT_LOAD and s[1] & PF_X)
    end = holder[2] + holder[5]
    room = min([-(-end // PAGE) * PAGE] + [s[2] for s in loads if s[2] >= end]) - end
    if holder[5] != holder[6] or len(CODE) > room or any(image[end : end + len(CODE)]):
        raise SystemExit(f"{path} has no {len(CODE)} unused bytes behind its code")
    image[end : end + len(CODE)] = CODE
    grown = holder[5] + len(CODE)
    PHDR.pack_into(image, phoff + index * phentsize, *holder[:5], grown, grown, holder[7])
    place = holder[3] + holder[5]

    symbols, version_of = offset_of(value[DT_SYMTAB]), offset_of(value[DT_VERSYM])
    answered = 0
    for table, size in ((DT_JMPREL, DT_PLTRELSZ), (DT_RELA, DT_RELASZ)):
        start = offset_of(value[table])
        for at in range(start, start + value[size], RELA.size):
            slot, info, _ = RELA.unpack_from(image, at)
            symbol = info >> 32
            if struct.unpack_from("<H", image, version_of + 2 * symbol)[0] not in versions:
                continue
            called = text_at(SYM.unpack_from(image, symbols + SYM.size * symbol)[0])
            if called != FUNCTION or info & 0xFFFFFFFF != R_X86_64_JUMP_SLOT:
                raise SystemExit(f"{path} also needs {called} of {LIBRARY}")
            RELA.pack_into(image, at, slot, R_X86_64_RELATIVE, place)
            # No version of that number is left.
            struct.pack_into("<H", image, version_of + 2 * symbol, 1)
            answered += 1
    if answered != 1:
        raise SystemExit(f"{path} asks {answered} times for {FUNCTION}")

    kept = [(tag, value[tag] if tag in (DT_VERNEED, DT_VERNEEDNUM) else at) for tag, at in used]
    kept = [(tag, at) for tag, at in kept if tag != DT_NEEDED or text_at(at) != LIBRARY]
    for i, entry in enumerate(kept + [(DT_NULL, 0)] * (len(entries) - len(kept))):
        DYN.pack_into(image, dynamic[2] + i * DYN.size, *entry)

    # Headers of what is loaded stay, for tools that ask a program what it needs; they stand before all others, so their numbers stay as well.
    sections = [list(SHDR.unpack_from(image, header[6] + i * SHDR.size)) for i in range(header[12])]
    loaded = sections[: next(i for i, s in enumerate(sections) if i > 0 and not s[2] & SHF_ALLOC)]
    if any(s[2] & SHF_ALLOC for s in sections[len(loaded) :]):
        raise SystemExit(f"{path} has loaded sections behind others")
    words = sections[header[13]]
    names = bytes(image[words[4] : words[4] + words[5]])
    del image[max(s[2] + s[5] for s in segments) :]
    words[4] = len(image)
    image += names + bytes(-(len(image) + len(names)) % 8)
    header[6], header[12], header[13] = len(image), len(loaded) + 1, len(loaded)
    image += b"".join(SHDR.pack(*s) for s in [*loaded, words])
    EHDR.pack_into(image, 0, *header)
    with open(path, "wb") as file:
        file.write(image)


stand_alone(sys.argv[1])
