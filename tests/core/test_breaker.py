from __future__ import annotations

from agentcore.compaction.breaker import Breaker


def failing(times: int, now: float = 100.0) -> Breaker:
    breaker = Breaker()
    for _ in range(times):
        breaker = breaker.failed(now)
    return breaker


def test_three_failures_in_a_row_open_it_for_thirty_seconds() -> None:
    assert failing(2).allows(100.0)
    opened = failing(3)
    assert not opened.allows(100.0) and not opened.allows(129.9)
    assert opened.seconds_left(110.0) == 20.0
    assert opened.allows(130.0)


def test_a_trial_that_fails_opens_it_again_and_one_that_works_closes_it() -> None:
    again = failing(3).failed(130.0)
    assert not again.allows(159.0) and again.allows(160.0)
    assert failing(3).succeeded() == Breaker()


def test_a_success_between_failures_starts_the_count_anew() -> None:
    assert failing(2).succeeded().failed(100.0).allows(100.0)
