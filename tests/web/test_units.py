from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agentcore.breakdown import Category
from hermesweb import wall
from hermesweb.categories import GROUPS, LETTERS
from hermesweb.models import Status
from hermesweb.templatetags import changes, units
from hermesweb.templatetags.status import LOOKS


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (84_249, "84.2 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.00 MB"),
        (999_995_000, "1.00 GB"),
        (10_819_660_000, "10.82 GB"),
        (-400, "-400 B"),
        (None, "unknown"),
    ],
)
def test_sizes_are_in_bytes_of_a_thousand(count: int | None, text: str) -> None:
    assert units.size(count) == text


def test_estimated_tokens_are_short_and_marked() -> None:
    assert units.tokens(21_388) == "≈ 21.4k tok"
    assert units.tokens(673, "estimate") == "≈ 673 tok"


def test_counted_tokens_are_full_and_name_their_source() -> None:
    assert units.tokens(21_388, "provider") == "21,388 tok (provider)"


@pytest.mark.parametrize(
    ("unit", "short", "full"),
    [
        ("bytes", "136.5 kB", "136,461 bytes"),
        ("chars", "136.5k chars", "136,461 chars"),
        ("tokens", "136.5k tok", "136,461 tok"),
    ],
)
def test_amounts_carry_the_unit_of_their_limit(unit: str, short: str, full: str) -> None:
    assert units.amount(136_461, unit) == short
    assert units.exactly(136_461, unit) == full


@pytest.mark.parametrize(
    ("fraction", "digits", "text"),
    [(0.758, 0, "76%"), (494_945 / 200_000, 0, "247%"), (0.517, 1, "51.7%"), (None, 0, "unknown")],
)
def test_percent_is_never_capped(fraction: float | None, digits: int, text: str) -> None:
    assert units.percent(fraction, digits) == text


def test_a_change_carries_its_sign_and_unit() -> None:
    shown = [changes.change(1_200), changes.change(-9_200, "tokens"), changes.change(0, "bytes")]
    assert shown == ["+1.2 kB", "−9.2k tok", "0 B"]


@pytest.mark.parametrize(("fraction", "text"), [(41_100 / 60_000, "69%"), (0.125, "13%")])
def test_half_a_percent_goes_up_as_on_the_turn_strip(fraction: float, text: str) -> None:
    assert units.percent(fraction) == text


def test_a_path_may_break_behind_its_slashes_alone() -> None:
    assert units.at_slashes("/a/<b>/c.py") == "/<wbr>a/<wbr>&lt;b&gt;/<wbr>c.py"


def test_hostile_text_is_escaped_and_its_unseen_characters_are_named() -> None:
    shown = units.visible("<b>\x1b[31m \u202egnp\0\ud800\tend\n")
    assert shown == (
        '&lt;b&gt;<span class="chip chip--off">ESC</span>[31m '
        '<span class="chip chip--off">U+202E</span>gnp␀'
        '<span class="chip chip--off">U+D800</span>\tend\n'
    )
    shown.encode()


def test_text_for_an_attribute_names_them_without_markup() -> None:
    assert units.plain("a\0b\u202ec") == "a␀b[U+202E]c"


def test_every_category_has_a_letter_of_its_own_in_the_order_of_a_request() -> None:
    assert list(LETTERS) == list(Category)
    assert len(set(LETTERS.values())) == len(LETTERS)
    assert sorted(name for group in GROUPS.values() for name in group) == sorted(Category)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (14.4, "14 s ago"),
        (359, "5 min ago"),
        (7_300, "2 h ago"),
        (90_000, "1 d ago"),
        (-3, "0 s ago"),
    ],
)
def test_the_past_is_told_in_its_largest_unit(seconds: float, text: str) -> None:
    assert units.ago(timezone.now() - timedelta(seconds=seconds)) == text


def test_every_status_has_a_look() -> None:
    assert set(LOOKS) == set(Status)
    assert {status for members in wall.GROUPS.values() for status in members} == set(Status)
