from __future__ import annotations

import pytest
from histories import answer, user

from agentcore.ledger import extract
from agentcore.ledger.cues import KINDS, PORTION_CHARS, TODO
from agentcore.messages import as_message

RULES = "Make sure that eu-north-7 stays. Never exceed 1,500 requests; do not use v1.2.3 there."
CHINESE_RULES = "不要写入线上数据表。日志不要超过500兆！必须保留第7项任务；端口是8080。"


@pytest.mark.parametrize(("rules", "filler"), [(RULES, "a"), (CHINESE_RULES, "啊")])
def test_a_fact_is_the_same_wherever_it_stands_in_a_long_text(rules: str, filler: str) -> None:
    alone = extract(as_message(user(f"{filler}. {rules}")))[1:]
    assert len(alone) >= 3
    for chars in range(PORTION_CHARS - len(rules) - 3, PORTION_CHARS + 3):
        found = extract(as_message(user(f"{filler * chars}. {rules}")))[1:]
        assert found == alone


def test_no_cue_holds_the_end_of_a_sentence() -> None:
    """A text is read in portions that end there."""
    assert not [word for word in KINDS if not set(word).isdisjoint(".!?;。！？；")]


@pytest.mark.parametrize("space", ["\n", "\t", "\r", "\xa0", "\u3000"])
def test_any_white_space_may_stand_between_the_words_of_a_cue(space: str) -> None:
    for word in (word for word in KINDS if " " in word and word != TODO):
        for value in (user, answer):
            broken, whole = (
                extract(as_message(value(f"The log {cue} 500 MB on the live table.")))
                for cue in (word.replace(" ", space), word)
            )
            assert broken == whole


def test_a_rule_goes_on_where_its_line_ends_inside_the_cue() -> None:
    found = extract(
        as_message(user("Never guess, and please do\nnot touch the table. It is ours."))
    )
    assert [fact.text for fact in found[1:]] == ["Never guess", "please do not touch the table"]
