"""A strategy as a package of one's own may offer it: of older tool results the first line stays.

Its `pyproject.toml` says, under the name that a stage of a profile then uses:

    [project.entry-points."agentcore.strategies"]
    first_line = "first_line:FirstLine"

A strategy gives a plan of what is *not* kept. It never changes a list itself, and what it may not
touch is told to it: `Replacements` leaves pins alone, `newest_group` is what the model looks at.
A plan that breaks a rule is rolled back, and the next stage goes on.
"""

from __future__ import annotations

from agentcore.compaction.plan import CompactionPlan, Fate
from agentcore.compaction.replacing import Replacements
from agentcore.compaction.strategy import Situation, is_reached
from agentcore.messages import Message, Role, born
from agentcore.snapshot import newest_group

NAME = "first_line"


class FirstLine:
    priority = 22

    def should_trigger(self, situation: Situation) -> bool:
        return is_reached(situation)

    def compact(self, situation: Situation) -> CompactionPlan:
        messages = situation.snapshot.messages
        newest = newest_group(messages)
        found = Replacements(situation, NAME, Fate.CUT)
        for row, message in enumerate(messages):
            if found.is_enough:
                break
            if message.role is Role.TOOL and row not in newest:
                found.offer(row, first_line)
        return found.plan()


def first_line(message: Message) -> Message:
    text = f"{message.text.partition(chr(10))[0]}\n[the rest left the context]"
    value = {**message.value(), "content": text}
    return born(value, tool=message.tool, status=message.status)
