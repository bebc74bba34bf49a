"""Records of shared files and notes of renamings, as Cairn would write them (docs/format/record.md,
renaming.md)."""

import struct


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = _table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _text(value):
    value = value if isinstance(value, bytes) else value.encode(errors="surrogateescape")
    return struct.pack("<I", len(value)) + value


def _checked(magic, version, body):
    return magic + struct.pack("<II", version, crc32c(body)) + body


def record(uuid=b"forged forged 16", epoch=1, size=0, mtime=10**18, mode=0o644, uid=0, gid=0,
           base=None, nodes=(), shares=(), version=1):
    """`base`: an os.stat_result or (inode, size, mtime, end). `nodes`: (uuid, host, pool).
    `shares`: (offset, length, stride, count, node)."""
    if hasattr(base, "st_ino"):
        base = (base.st_ino, base.st_size, base.st_mtime_ns, base.st_size)
    body = uuid + struct.pack("<3Q", epoch, size, mtime) + struct.pack(
        "<4I", mode, uid, gid, 0 if base is None else 1)
    body += struct.pack("<4Q", *(base or
                                 (0, 0, 0, 0))) + struct.pack("<2I", len(nodes), len(shares))
    for pool, host, path in nodes:
        body += pool + _text(host) + _text(path)
    for share in shares:
        body += struct.pack("<5Q", *share)
    return _checked(b"CAIRNREC", version, body)


def note(old, new, pools, version=1):
    """`pools`: uuids of 16 bytes, of the nodes that are to rename `old` to `new`."""
    body = _text(old) + _text(new) + struct.pack("<I", len(pools)) + b"".join(pools)
    return _checked(b"CAIRNMOV", version, body)
