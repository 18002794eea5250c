"""Pages of a session of 2,000 messages, on the server: `pytest tests/bench/diffs.py -s`.

The bound: a diff of 2,000 messages within 100 ms, and so the words of one row of it; each figure is
the median of five.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable

import pytest
from builders import a_user
from django.test import Client
from scenes import a_talk, compacted, compacted_by

from agentcore.snapshot import State
from hermesweb import bands, diffs, rewording

MESSAGES, MOST_MS = 2_000, 100


def took(work: Callable[[], object]) -> float:
    """Milliseconds."""
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1_000


@pytest.mark.django_db
def test_a_diff_of_2_000_messages_takes_at_most_100_ms(client: Client) -> None:
    ada = a_user("ada")
    client.force_login(ada)
    session = a_talk(ada, MESSAGES, text="x" * 200)
    compacted(session, start=2, stop=1_900)
    row = session.stored_compactions.get()
    ends = State(0, 500), State(1, session.last_number)
    home = f"/sessions/{session.pk}"
    found = {
        "compaction": took(lambda: bands.shown(session, diffs.rows_of(session, row))),
        "two states": took(lambda: bands.shown(session, diffs.between(session, *ends))),
        "compaction page": took(lambda: client.get(f"{home}/compactions/1/")),
        "diff page": took(lambda: client.get(f"{home}/diff/?from=0.500&to=1")),
        "as it was": took(lambda: client.get(f"{home}/at/0.1000/")),
        "compact page": took(lambda: client.get(f"{home}/compact/?stage=keep_recent")),
    }
    for name, ms in found.items():
        print(f"{name:<16} {ms:6.1f} ms")
    assert found["compaction"] < MOST_MS and found["two states"] < MOST_MS


@pytest.mark.django_db
def test_the_words_of_a_row_take_at_most_100_ms_at_the_bound(client: Client) -> None:
    ada = a_user("ada")
    client.force_login(ada)
    session = a_talk(ada, MESSAGES, text="some words of a line\n" * 40)
    compacted_by(session, stage="mask", keep_last=1)
    old, new = next(
        (row.number, row.replaced_by)
        for row in diffs.rows_of(session, session.stored_compactions.get())
        if row.replaced_by
    )
    path = f"/sessions/{session.pk}"
    side = int(rewording.MOST_PAIRS**0.5)
    said = [random.Random(seed).choices("abcdefgh", k=side // 2) for seed in (1, 2)]
    alike = [json.dumps({"role": "user", "content": " ".join(words)}) for words in said]
    found = {
        "at the bound": took(lambda: rewording.rewording(*alike)),
        "a row's page": took(lambda: client.get(f"{path}/messages/{old}/words/{new}/")),
        "on paper": took(lambda: client.get(f"{path}/compactions/1/paper/")),
    }
    for name, ms in found.items():
        print(f"{name:<16} {ms:6.1f} ms")
    assert found["at the bound"] < MOST_MS and found["a row's page"] < MOST_MS
