"""An agent that needs no key and no network: it looks, counts and tells, by a fixed itinerary."""

from __future__ import annotations

from agentcore.llm.explorer.model import ExplorerModel

__all__ = ["ExplorerModel"]
