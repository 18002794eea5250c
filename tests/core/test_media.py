from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.breakdown import MEDIA_PARTS
from agentcore.media import Medium, media_in

DATA = base64.b64encode(b"x" * 100).decode()
URL = f"data:image/png;base64,{DATA}"


@pytest.mark.parametrize(
    ("part", "kind", "size"),
    [
        ({"type": "image_url", "image_url": {"url": URL}}, "image/png", 100),
        ({"type": "input_image", "image_url": URL}, "image/png", 100),
        ({"type": "image_url", "image_url": {"url": "https://a/b.png"}}, "image_url", None),
        (
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/webp", "data": DATA},
            },
            "image/webp",
            100,
        ),
        ({"type": "image", "source": {"type": "url", "url": "http://a/b"}}, "image", None),
        (
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": DATA},
            },
            "application/pdf",
            100,
        ),
        ({"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}}, "wav", 100),
        (
            {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{DATA}"}},
            "application/pdf",
            100,
        ),
        ({"type": "file", "file": {"file_id": "f1"}}, "file", None),
        ({"type": "image"}, "image", None),
        ({"type": "image", "source": {"media_type": "<b>bold</b>", "data": DATA}}, "image", 100),
    ],
)
def test_a_medium_is_named_by_its_kind_and_the_bytes_behind_its_base64(
    part: dict[str, Any], kind: str, size: int | None
) -> None:
    assert media_in([{"type": "text", "text": "see"}, part]) == (Medium(kind, size),)


@pytest.mark.parametrize("content", [None, "text", [], [{"type": "text", "text": "a"}], ["a", 1]])
def test_text_holds_no_media(content: Any) -> None:
    assert media_in(content) == ()


loose = st.recursive(
    st.none() | st.integers() | st.text(max_size=20) | st.just(URL),
    lambda inner: st.dictionaries(
        st.sampled_from(["url", "data", "source", "image_url", "file", "media_type", "format"]),
        inner,
    ),
    max_leaves=8,
)


@given(st.sampled_from(sorted(MEDIA_PARTS)), loose)
def test_whatever_a_part_holds_it_has_a_name(kind: str, inside: Any) -> None:
    part = {**(inside if isinstance(inside, dict) else {"source": inside}), "type": kind}
    (found,) = media_in([part])
    assert found.kind and (found.bytes is None or found.bytes >= 0)
