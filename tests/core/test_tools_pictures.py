from __future__ import annotations

import base64
import struct
import zlib
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.breakdown import Category
from agentcore.errors import ToolError
from agentcore.limits import MIB, NOTICE_BYTES, Limits
from agentcore.messages import Message, ToolCall, ToolStatus
from agentcore.presets import PRESETS
from agentcore.profile import Profile
from agentcore.tools import Mode, toolbox
from agentcore.tools.arguments import FunctionTool, schema
from agentcore.tools.base import Outcome, Picture, Toolbox, ToolResult, Workspace
from agentcore.tools.pictures import FRONT_BYTES, read_picture
from agentcore.turn import result
from agentcore.wire import dumps


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int = 3, height: int = 2, pixels: bytes | None = None) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    if pixels is None:
        pixels = zlib.compress(b"\0" * (width + 1) * min(height, 9))
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def jpeg() -> bytes:
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, 2, 3, 1) + b"\x01\x11\x00"
    scan = b"\xff\xda" + struct.pack(">HBBBBBB", 8, 1, 1, 0, 0, 63, 0) + b"\x12\x34"
    return b"\xff\xd8\xff\xe0\x00\x04ab" + frame + scan + b"\xff\xd9"


def webp(form: bytes, data: bytes) -> bytes:
    body = b"WEBP" + form + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


GIF = b"GIF89a" + struct.pack("<HH", 3, 2) + b"\0\0\0" + b",\0\0\0\0\3\0\2\0\0\2\1\0\0;"
PICTURES = {
    "image/png": png(),
    "image/jpeg": jpeg(),
    "image/gif": GIF,
    "image/webp": webp(b"VP8X", b"\0\0\0\0" + b"\2\0\0" + b"\1\0\0"),
    "image/webp lossless": webp(b"VP8L", b"\x2f" + struct.pack("<I", 2 | 1 << 14) + b"\0"),
    "image/webp lossy": webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 3, 2)),
}
SVG = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>\n"


async def read(root: Path, name: str, limits: Limits | None = None, **arguments: int) -> Outcome:
    box = toolbox(Workspace(root.resolve(), limits or Limits()), Mode.PLAN)
    return await box.call(ToolCall("c", "read_file", dumps({"path": name, **arguments})))


async def read_bytes(root: Path, data: bytes, limits: Limits | None = None) -> Outcome:
    (root / "shot").write_bytes(data)
    return await read(root, "shot", limits)


def taken(data: bytes, kind: str) -> ToolResult:
    with TemporaryFile() as file:
        file.write(data)
        file.flush()
        file.seek(0)
        return read_picture("shot", file.fileno(), kind, Limits())


@pytest.mark.parametrize("kind", PICTURES)
async def test_a_picture_is_given_whole_beside_its_size_and_sides(
    tmp_path: Path, kind: str
) -> None:
    data = PICTURES[kind]
    outcome = await read_bytes(tmp_path, data)
    name = {"gif": "GIF", "png": "PNG", "jpeg": "JPEG", "webp": "WebP"}[kind.split()[0][6:]]
    assert outcome.text == f"read_file shot: {name} picture, 3 x 2 pixels, {len(data)} bytes"
    assert outcome.pictures == (Picture(kind.split()[0], data),)
    assert outcome.cut is None


async def test_a_picture_is_charged_to_images_and_its_tokens_are_those_of_one(
    tmp_path: Path,
) -> None:
    data = png() + b"\0" * 100_000
    message = result(await read_bytes(tmp_path, data))
    text, shown = message.value()["content"]
    assert text["text"].startswith("read_file shot: PNG picture")
    assert base64.b64decode(shown["image_url"]["url"].partition(",")[2]) == data
    parts = message.sizes.breakdown
    assert parts.total == message.sizes.bytes
    assert parts[Category.IMAGES] == len(dumps(shown)) + 1
    assert 1 <= message.sizes.tokens <= 10_000


@pytest.mark.parametrize("kind", PICTURES)
async def test_a_picture_that_ends_too_early_is_refused(tmp_path: Path, kind: str) -> None:
    data = PICTURES[kind]
    for length in range(12, len(data)):
        outcome = await read_bytes(tmp_path, data[:length])
        assert outcome.status is ToolStatus.FAILED
        assert "picture but is broken: " in outcome.text
        assert outcome.pictures == ()


@given(at=st.integers(8, len(png()) - 1), change=st.integers(1, 255))
def test_a_png_with_a_changed_byte_is_refused(at: int, change: int) -> None:
    data = bytearray(png())
    data[at] ^= change
    with pytest.raises(ToolError, match="but is broken"):
        taken(bytes(data), "image/png")


@given(kind=st.sampled_from(sorted(PICTURES)), rest=st.binary(max_size=80))
def test_any_bytes_behind_the_front_are_a_picture_or_refused(kind: str, rest: bytes) -> None:
    with suppress(ToolError):
        assert taken(PICTURES[kind][:FRONT_BYTES] + rest, kind.split()[0]).pictures


@pytest.mark.parametrize(
    ("pixels", "reason"),
    [
        (b"", "it has no pixels"),
        (b"garbage", "its pixels cannot be unpacked"),
        (zlib.compress(b""), "it has no pixels"),
        (zlib.compress(bytes(range(200)))[:-30], "it has too few pixels"),
    ],
)
async def test_a_png_whose_checksums_are_right_and_pixels_wrong_is_refused(
    tmp_path: Path, pixels: bytes, reason: str
) -> None:
    (tmp_path / "a.png").write_bytes(png(pixels=pixels))
    call = ToolCall("c", "read_file", dumps({"path": "a.png"}))
    outcome = await toolbox(Workspace(tmp_path.resolve())).call(call)
    assert outcome.status is ToolStatus.FAILED and not outcome.pictures
    assert f"begins as a PNG picture but is broken: {reason}" in outcome.text


async def test_an_empty_file_and_text_under_a_name_of_a_picture_are_what_they_are(
    tmp_path: Path,
) -> None:
    (tmp_path / "empty.png").touch()
    assert (await read(tmp_path, "empty.png")).text.endswith("the file is empty (0 bytes)")
    (tmp_path / "notes.png").write_text("only text\n")
    assert (await read(tmp_path, "notes.png")).text.endswith("only text\n")
    (tmp_path / "zeros.png").write_bytes(b"\0" * 40)
    assert "is binary" in (await read(tmp_path, "zeros.png")).text


async def test_an_svg_is_text(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text(SVG)
    outcome = await read(tmp_path, "a.svg")
    assert outcome.text.endswith(SVG)
    assert outcome.pictures == ()


async def test_a_picture_of_100_megabytes_is_refused_unread_with_the_way_out(
    tmp_path: Path,
) -> None:
    path = tmp_path / "shot"
    path.write_bytes(png())
    with path.open("r+b") as file:
        file.truncate(100 * MIB)
    outcome = await read(tmp_path, "shot")
    assert outcome.text == (
        "read_file: shot is a PNG picture of 104857600 bytes, the limit for pictures is 1048576: "
        "make a smaller copy of it and read that"
    )


async def test_a_picture_without_a_limit_of_its_own_has_that_of_files(tmp_path: Path) -> None:
    size = len(png())
    fits = Limits(picture_bytes=0, file_bytes=size)
    assert (await read_bytes(tmp_path, png(), fits)).pictures
    tight = Limits(picture_bytes=0, file_bytes=size - 1)
    assert (
        f"the limit for pictures is {size - 1}" in (await read_bytes(tmp_path, png(), tight)).text
    )
    none = Limits(picture_bytes=0, file_bytes=0)
    assert (await read_bytes(tmp_path, png(), none)).pictures


async def test_a_side_that_no_model_takes_is_refused(tmp_path: Path) -> None:
    assert (await read_bytes(tmp_path, png(8_000, 1))).pictures
    assert "8001 x 1 pixels" in (await read_bytes(tmp_path, png(8_001, 1))).text


async def test_lines_of_a_picture_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "shot").write_bytes(png())
    assert "is binary" in (await read(tmp_path, "shot", offset=1)).text


def a_camera(*pictures: bytes, text: str = "camera: shots\nmore") -> FunctionTool:
    async def shoot(workspace: Workspace) -> ToolResult:
        return ToolResult(text, pictures=tuple(Picture("image/png", data) for data in pictures))

    return FunctionTool("camera", "takes pictures", schema({}), shoot)


async def test_a_picture_over_the_limit_is_kept_whole_outside_the_message() -> None:
    limits = Limits(picture_bytes=30, result_bytes=1_000)
    camera = a_camera(b"a" * 20, b"b" * 11, text="camera: shots\n" + "x" * 5_000)
    outcome = await Toolbox((camera,), Workspace(Path(), limits)).call(
        ToolCall("c", "camera", "{}")
    )
    assert outcome.pictures == (Picture("image/png", b"a" * 20),)
    assert outcome.text.startswith(
        "camera: shots\n… a picture (image/png, 11 bytes) is too large for a result; "
    )
    assert len(outcome.text.encode()) <= 1_000 + NOTICE_BYTES
    encoded = base64.b64encode(b"b" * 11).decode()
    assert outcome.captured.endswith(f"x\ndata:image/png;base64,{encoded}")
    message: Message = result(outcome)
    assert message.cut is not None and message.cut.original > 5_000


async def test_a_picture_over_the_limit_on_files_is_kept_nowhere_and_says_so() -> None:
    limits = Limits(picture_bytes=30, file_bytes=100)
    box = Toolbox((a_camera(b"a" * 101),), Workspace(Path(), limits))
    outcome = await box.call(ToolCall("c", "camera", "{}"))
    assert "(image/png, 101 bytes) is too large for a result; too large for the session" in (
        outcome.text
    )
    assert outcome.captured == "camera: shots\nmore" and outcome.pictures == ()


@pytest.mark.parametrize(("name", "most"), [("nanohermes", 22_500), ("balanced", MIB)])
def test_a_picture_takes_a_quarter_of_a_budget_in_bytes(name: str, most: int) -> None:
    profile = Profile.of(PRESETS[name].values())
    assert profile.limits_for(profile.window_for("any")).picture_bytes == most
    small = profile.replace(limits=Limits(picture_bytes=100))
    assert small.limits_for(profile.window_for("any")).picture_bytes == 100
