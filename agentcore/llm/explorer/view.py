"""Where a run stands, read from the list alone: a worker may be killed and another go on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentcore.llm.explorer.sightings import (
    Listing,
    Sighting,
    listing,
    looks_like_a_name,
    sightings,
)
from agentcore.messages import Message, Role
from agentcore.skills import ASK

MAX_WORDS = 3

_STAMP = re.compile(r"(Step|Follow-up|追问第|第) (\d+)\b")
_SKILL = re.compile(r"^- ([^:\n]+)", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,}")
_COMMON = frozenset(
    _WORD.findall(
        "about also answer anything check code could describe does each every explain explore file "
        "files find folder from give have here into just know like list look main make many more "
        "most much need only overview please project read repo repository report search should "
        "show some source summarize summary tell than that their them then there these they this "
        "those through understand used using want well were what when where which will with work "
        "works workspace would your"
    )
)


@dataclass(frozen=True, slots=True)
class View:
    """`step` is the last one announced, 0 before the first. `newest` are the results of the last
    calls, `called` the tools of those, whatever came of them. `is_interrupted`: an instruction
    came in after work on an earlier one had begun."""

    instruction: str
    step: int
    is_follow_up: bool
    is_interrupted: bool
    seen: tuple[Sighting, ...]
    newest: tuple[Sighting, ...]
    called: tuple[str, ...]
    listing: Listing | None
    skills: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Words of the instruction worth a search, those that look like names first."""
        words = dict.fromkeys(_WORD.findall(self.instruction))
        rare = [word for word in words if word.lower() not in _COMMON]
        return tuple(sorted(rare, key=lambda word: not looks_like_a_name(word))[:MAX_WORDS])


def view(messages: Sequence[Message]) -> View:
    said = [index for index, one in enumerate(messages) if one.role is Role.ASSISTANT]
    finals = [index for index in said if messages[index].is_final_answer]
    run = messages[finals[-1] + 1 :] if finals else messages
    step, is_follow_up = _progress(run, may_be_summarized=not said)
    asked = [one.text for one in messages if one.is_instruction]
    seen = sightings(messages)
    last_calls = messages[said[-1]].calls if said else ()
    return View(
        asked[-1] if asked else "",
        step,
        is_follow_up or (step == 0 and bool(finals)),
        is_interrupted=step > 0 and messages[-1].is_instruction,
        seen=seen,
        newest=sightings(messages[said[-1] :]) if said else (),
        called=tuple(call.name for call in last_calls),
        listing=listing(seen),
        skills=_skills(messages),
    )


def _skills(messages: Sequence[Message]) -> tuple[str, ...]:
    """Names that the system message lists as skills."""
    leading = messages[0].text if messages and messages[0].is_leading else ""
    listed = leading.partition(ASK)[2].partition("\n\n")[0]
    return tuple(_SKILL.findall(listed))


def _progress(run: Sequence[Message], *, may_be_summarized: bool) -> tuple[int, bool]:
    """The last step announced and whether it was a follow-up's. A summary is asked only where the
    list shows nothing that the explorer said itself."""
    for message in reversed(run):
        stamps: list[tuple[str, str]] = []
        if message.role is Role.ASSISTANT:
            stamps = _STAMP.findall(message.text)[:1]
        elif may_be_summarized and message.is_summary:
            stamps = _STAMP.findall(message.text)[-1:]
        for kind, number in stamps:
            return int(number), kind in ("Follow-up", "追问第")
    return 0, False
