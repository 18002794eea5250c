"""When a later statement takes the place of an earlier one."""

from __future__ import annotations

from collections.abc import Sequence

from agentcore.facts import Fact, FactKind

RULES = frozenset({FactKind.CONSTRAINT, FactKind.PREFERENCE})
# Of the words of the shorter statement, those that both must have; rules must share more, since of
# two words one may be the verb of anything.
SHARED = 0.5
# The side of a bound that only names a new value: "make that 500".
NEW_VALUE = "~"
_SIGNS = f"<>={NEW_VALUE}"


def replaced_by(later: Fact, standing: Sequence[Fact]) -> list[Fact]:
    """Those of the standing facts (in their order) that the later one takes the place of.

    Same subject: the later one holds. A limit without a subject ("keep it under 500") is about
    the last limit of its side and unit. What says that it changes something replaces what it
    shares half its words with. Anything else stays beside: near-duplicates may differ in substance.
    """
    earlier = [fact for fact in standing if _comparable(fact, later)]
    if later.bound:
        return _of_bound(later, [fact for fact in earlier if _same_bound(fact, later)])
    if not later.subject:
        return []
    return [fact for fact in earlier if not fact.bound and _about_the_same(fact, later)]


def _comparable(earlier: Fact, later: Fact) -> bool:
    if earlier.key == later.key and earlier.kind is later.kind:
        return False
    return earlier.kind is later.kind or {earlier.kind, later.kind} <= RULES


def _same_bound(earlier: Fact, later: Fact) -> bool:
    """Same side, and units that agree; one without a unit agrees with any, as a bare new value
    does with either side."""
    if not earlier.bound or (earlier.bound[:2] != later.bound[:2] and later.bound[0] != NEW_VALUE):
        return False
    one, other = earlier.bound.lstrip(_SIGNS), later.bound.lstrip(_SIGNS)
    return one == other or not one or not other


def _of_bound(later: Fact, earlier: Sequence[Fact]) -> list[Fact]:
    same = [fact for fact in earlier if fact.subject == later.subject]
    if later.kind is FactKind.NUMBER:
        # One message may count many things of one name.
        return [one for one in same if later.subject and one.number != later.number]
    if same:
        return same
    if not later.subject:
        return list(earlier[-1:])
    if later.revises:
        return [fact for fact in earlier if not fact.subject or _share(fact, later)][-1:]
    return []


def _about_the_same(earlier: Fact, later: Fact) -> bool:
    if earlier.subject == later.subject:
        return True
    return later.revises and _share(earlier, later)


def _share(earlier: Fact, later: Fact) -> bool:
    one, other = set(earlier.subject.split()), set(later.subject.split())
    fewer = min(len(one), len(other))
    shared, enough = len(one & other), SHARED * fewer
    return shared > enough or (shared == enough > 0 and later.kind not in RULES)
