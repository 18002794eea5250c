"""What an Agent is given besides its list, model and tools: where its session stands, and what it
may turn to."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentcore.calling import Check
from agentcore.compaction.breaker import Breaker
from agentcore.compaction.hooks import Hooks
from agentcore.headroom import Originals
from agentcore.llm.base import ChatModel, OnText
from agentcore.llm.router import Tiers
from agentcore.prefix import Prefix
from agentcore.pressure import Window
from agentcore.tools.recall import Archive
from agentcore.turn import Request, Spent
from agentcore.usage import Prices
from agentcore.writer import Named


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a session stands, as it was stored: with this another worker goes on.

    `turn` and `run` are the last ones so far; `run_open`: the last run did not end; `answered`: it
    did, with an answer; `recovered`: its worker was lost; `spent` is that of the open run; `prefix`
    knows the last request; `contradicted`: the window that a provider named when it refused one;
    `waited`: the request of turn `turn + 1`, which began and waited for a person.
    """

    turn: int = 0
    run: int = 0
    run_open: bool = False
    answered: bool = False
    recovered: bool = False
    spent: Spent = field(default_factory=Spent)
    prefix: Prefix = field(default_factory=Prefix)
    contradicted: Window | None = None
    breaker: Breaker = Breaker()
    waited: Request | None = None


@dataclass(frozen=True, slots=True)
class Means:
    """What a session may turn to. `summarizer` None: summaries are made from the ledger; `on_text`
    hears a reply while it comes; `check` raises before a tool runs when this worker no longer holds
    the session; `originals` and `archive` read messages that left the list; `named` finds the model
    that a person wants a summary of, by its name; `tiers` are the models that a run steps down to
    where its ceiling asks for it."""

    summarizer: ChatModel | None = None
    on_text: OnText | None = None
    check: Check | None = None
    hooks: Hooks = Hooks()
    originals: Originals | None = None
    archive: Archive | None = None
    prices: Prices = field(default_factory=Prices)
    named: Named | None = None
    tiers: Tiers | None = None
