from __future__ import annotations

import re

import pytest
from django.utils import translation

from hermesweb.details import detail
from hermesweb.outcome import why_not

SAID = (
    "6 messages, all paired",
    "starts with user",
    "nothing but system and summary",
    "this plan needs none",
    "message 147",
    "nothing stands for what left",
    "37,422 of 60,000 bytes",
    "the newest message was changed",
    "the last 3 messages",
    "the tail differs",
    "there is none",
    "2 of 3 (66%)",
    "message 7 is the instruction in force",
    "message 7 was not seen by the model yet",
    "is a system message",
    "is pinned, or its group is: unpin it first",
    "none of these messages is in the list: nothing to exclude",
    "there is nothing to end: the list holds no conversation yet",
)


@pytest.mark.parametrize("said", SAID)
def test_what_a_check_says_is_said_in_the_language_of_the_page(said: str) -> None:
    assert detail(said) == said
    with translation.override("zh-hans"):
        assert re.search("[a-z]{3}", detail(said).removesuffix("bytes")) is None


def test_lost_facts_and_what_has_another_form_stay_as_they_were_said() -> None:
    with translation.override("zh-hans"):
        assert detail("1 of 2 (50%), lost: use tabs\n(message 3)").endswith("use tabs\n(message 3)")
        assert detail("call c1 has no result") == "call c1 has no result"


def test_a_failed_summary_says_why_in_the_language_of_the_page() -> None:
    assert why_not("headings: no Goal") == "the summary lacked its headings: no Goal"
    with translation.override("zh-hans"):
        assert why_not("headings: no Goal") == "摘要缺少规定的标题：no Goal"
        assert why_not("there is no model to ask") == "there is no model to ask"
