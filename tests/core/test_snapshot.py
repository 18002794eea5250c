"""Lists from outside: plain dicts, messages that have a number, and both together."""

from __future__ import annotations

from histories import Value, answer, exchange, legal_lists, user
from hypothesis import given
from hypothesis import strategies as st

from agentcore import PRESETS, Snapshot, compact
from agentcore.messages import Message


def numbers(snapshot: Snapshot) -> list[int]:
    return [message.number for message in snapshot.messages]


def ordered(snapshot: Snapshot) -> bool:
    rows = list(zip(snapshot.places, numbers(snapshot), strict=True))
    return rows == sorted(set(rows))


def test_dicts_are_numbered_from_1_in_their_order() -> None:
    snapshot = Snapshot.of([user("1"), answer("2")])
    assert (numbers(snapshot), snapshot.places) == ([1, 2], (4, 8))


def test_a_dict_behind_numbered_messages_gets_a_number_of_its_own() -> None:
    done = compact(exchange(40, 500), PRESETS["nanohermes"], force=True)
    goes_on = Snapshot.of([*done.new.messages, answer(), user("next")])
    assert numbers(goes_on) == [*numbers(done.new), 84, 85]
    assert goes_on.places[2:] == (*done.new.places[2:], 84 * 4, 85 * 4)
    assert ordered(goes_on)


def test_a_message_that_stands_twice_keeps_its_number_once() -> None:
    message = Snapshot.of([user()]).messages[0]
    assert numbers(Snapshot.of([message, message])) == [1, 2]


@given(legal_lists(), st.data())
def test_messages_in_any_order_have_numbers_of_their_own_and_places_in_that_order(
    values: list[Value], data: st.DataObject
) -> None:
    born = Snapshot.of(values).messages
    known: list[Message | Value] = [*born, *values]
    chosen = (
        [known[row] for row in data.draw(st.lists(st.integers(0, len(known) - 1)))] if known else []
    )
    snapshot = Snapshot.of(chosen)
    assert len(set(numbers(snapshot))) == len(chosen) and 0 not in numbers(snapshot)
    assert ordered(snapshot)
