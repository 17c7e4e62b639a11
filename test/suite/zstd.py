"""Zstandard frames (RFC 8878)."""
import ctypes
import ctypes.util
import struct


def raw(content):
    """A frame of one raw block."""
    return b"\x28\xb5\x2f\xfd\x00\x58" + (len(content) << 3 | 1).to_bytes(3, "little") + content


def zeros(size):
    """A Zstandard frame of zeros, 4 bytes for each 128 KB."""
    out = struct.pack("<IBBQ", 0xFD2FB528, 0xC0, 0x58, size)  # a window of 2 MB
    while size:
        part = min(size, 128 << 10)
        size -= part
        out += struct.pack("<I", (0 if size else 1) | 1 << 1 | part << 3)[:3] + b"\0"
    return out


def packed(data):
    """Compressed as much as libzstd can."""
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_compress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    room = library.ZSTD_compressBound(len(data))
    out = ctypes.create_string_buffer(room)
    size = library.ZSTD_compress(out, room, data, len(data), 19)
    return out.raw[:size]
