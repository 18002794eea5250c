"""Pictures that a tool gives to the model: what a file is, by its bytes and never by its name."""

from __future__ import annotations

import os
import struct
import zlib

from agentcore.errors import ToolError
from agentcore.limits import Limits
from agentcore.tools.base import Picture, ToolResult

# Bytes from the front that tell the kind.
FRONT_BYTES = 16
UNPACKED_BYTES = 65_536
# Providers refuse a longer side.
MOST_SIDE = 8_000

_NAMES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP"}
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})
_SCAN = 0xDA


def picture_kind(front: bytes) -> str | None:
    """The media type of a file that begins so; None for what is no picture that models take."""
    if front.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if front.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if front.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if front.startswith(b"RIFF") and front[8:12] == b"WEBP":
        return "image/webp"
    return None


def read_picture(path: str, descriptor: int, kind: str, limits: Limits) -> ToolResult:
    """Raises ToolError for one that is too large, or that no provider would take: a single broken
    picture in the list would have every later request refused."""
    size, name = os.fstat(descriptor).st_size, _NAMES[kind]
    most = min(filter(None, (limits.picture_bytes, limits.file_bytes)), default=size)
    if size > most:
        raise ToolError(
            f"{path} is a {name} picture of {size} bytes, the limit for pictures is {most}: "
            "make a smaller copy of it and read that"
        )
    with open(descriptor, "rb", closefd=False) as file:
        data = file.read(size)
    try:
        width, height = _sides(data, kind)
    except (ValueError, IndexError, struct.error) as error:
        reason = str(error) if type(error) is ValueError else "it ends too early"
        raise ToolError(f"{path} begins as a {name} picture but is broken: {reason}") from error
    if max(width, height) > MOST_SIDE:
        raise ToolError(
            f"{path} has {width} x {height} pixels, models take {MOST_SIDE} a side at most: "
            "make a smaller copy of it and read that"
        )
    told = f"read_file {path}: {name} picture, {width} x {height} pixels, {len(data)} bytes"
    return ToolResult(told, pictures=(Picture(kind, data),))


def _sides(data: bytes, kind: str) -> tuple[int, int]:
    """Width and height of a picture that is there to its end. Raises ValueError, IndexError or
    struct.error for any other."""
    read = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}[kind]
    width, height = read(data)
    if not (width and height):
        raise ValueError("it has no pixels")
    return width, height


def _png(data: bytes) -> tuple[int, int]:
    sides, pixels, at, name = (0, 0), bytearray(), 8, b""
    while name != b"IEND":
        length, name = struct.unpack_from(">I4s", data, at)
        (told,) = struct.unpack_from(">I", data, at + 8 + length)
        if zlib.crc32(data[at + 4 : at + 8 + length]) != told:
            raise ValueError(f"the checksum at offset {at} is wrong")
        if name == b"IHDR":
            sides = struct.unpack_from(">II", data, at + 8)
        if name == b"IDAT":
            pixels += data[at + 8 : at + 8 + length]
        at += 12 + length
    _check_packed(pixels)
    return sides


def _check_packed(pixels: bytearray) -> None:
    """Only their beginning is unpacked: all of them may be a thousand times as many bytes."""
    unpacking = zlib.decompressobj()
    try:
        begin = unpacking.decompress(pixels, UNPACKED_BYTES)
    except zlib.error as error:
        raise ValueError("its pixels cannot be unpacked") from error
    if not begin or (len(begin) < UNPACKED_BYTES and not unpacking.eof):
        raise ValueError("it has too few pixels" if begin else "it has no pixels")


def _jpeg(data: bytes) -> tuple[int, int]:
    sides, at, marker = (0, 0), 2, 0
    while marker != _SCAN:
        if data[at] != 0xFF:
            raise ValueError(f"there is no marker at offset {at}")
        marker = data[at + 1]
        if marker in (0xFF, *_ALONE):
            at += 1 if marker == 0xFF else 2
            continue
        (length,) = struct.unpack_from(">H", data, at + 2)
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            sides = width, height
        at += 2 + max(2, length)
    if data.rfind(b"\xff\xd9") < at:
        raise ValueError("it ends too early")
    return sides


def _gif(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", data, 6)
    if b"," not in data[13:] or not data.rstrip(b"\0").endswith(b";"):
        raise ValueError("it ends too early")
    return width, height


def _webp(data: bytes) -> tuple[int, int]:
    (size,) = struct.unpack_from("<I", data, 4)
    form = data[12:16]
    if size + 8 > len(data):
        raise ValueError("it ends too early")
    if form == b"VP8X":
        wide, high = (int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
        return wide + 1, high + 1
    if form == b"VP8L" and data[20] == 0x2F:
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise ValueError("it is of no known form")
