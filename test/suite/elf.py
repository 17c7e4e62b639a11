"""Small ELF files, made byte by byte. Format: elf(5)."""
import struct

CODE = 0x400000  # where their code is loaded


class Elf:
    """A 64-bit little-endian ELF file. Sections: (name, type, flags, address, bytes, link, entry size)."""

    def __init__(self, machine=62, kind=2):
        self.machine, self.kind = machine, kind
        self.sections = [("", 0, 0, 0, b"", 0, 0)]

    def add(self, name, data, kind=1, flags=0, address=0, link=0, entry=0):
        self.sections.append((name, kind, flags, address, data, link, entry))
        return len(self.sections) - 1

    def bytes(self):
        names, places = b"\0", {}
        for section in self.sections + [(".shstrtab",)]:
            places[section[0]] = len(names) if section[0] else 0
            names += section[0].encode() + b"\0" if section[0] else b""
        sections = self.sections + [(".shstrtab", 3, 0, 0, names, 0, 0)]
        at, parts, headers = 64 + 56, [], []
        for name, kind, flags, address, data, link, entry in sections:
            headers.append(struct.pack("<IIQQQQIIQQ", places[name], kind, flags, address, at, len(data), link, 0, 1, entry))
            parts.append(data)
            at += len(data)
        count = len(sections)
        head = b"\x7fELF\x02\x01\x01" + b"\0" * 9 + struct.pack("<HHIQQQIHHHHHH", self.kind, self.machine, 1, CODE, 64, at, 0, 64, 56, 1, 64,
                                                               count if count < 0xff00 else 0, count - 1 if count < 0xff00 else 0xffff)
        load = struct.pack("<IIQQQQQQ", 1, 5, 0, CODE, CODE, at, at, 4096)
        if count >= 0xff00:
            headers[0] = headers[0][:32] + struct.pack("<QI", count, count - 1) + headers[0][44:]
        return head + load + b"".join(parts + headers)


def symbols(entries):
    """(.symtab, .strtab) of (name, value, size)."""
    strings, table = b"\0", b"\0" * 24
    parts, at = [strings], 1
    rows = [table]
    for name, value, size in entries:
        data = name.encode() + b"\0" if isinstance(name, str) else None
        place = at if data else name
        if data:
            parts.append(data)
            at += len(data)
        rows.append(struct.pack("<IBBHQQ", place, 0x12, 0, 1, value, size))
    return b"".join(rows), b"".join(parts)
