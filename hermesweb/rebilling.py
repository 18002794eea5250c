"""What a change of the list costs the provider's cache, and when it has paid for itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from agentcore.diff import Row
from agentcore.usage import MILLION, Prices


@dataclass(frozen=True, slots=True)
class Rebilling:
    """`bytes` and estimated `tokens` behind the first changed row, which the next request sends
    anew; `cost`: what that adds, in USD; `turns` until the smaller list has saved it and the
    summary. None where a price is not known."""

    bytes: int
    tokens: int
    cost: Decimal | None
    turns: int | None


def rebilling(
    rows: Sequence[Row], ratio: float, prices: Prices, *, spent: Decimal | None = Decimal(0)
) -> Rebilling:
    """`ratio`: tokens a byte; `spent`: USD that the summary took."""
    first = next((at for at, row in enumerate(rows) if not row.is_unchanged), len(rows))
    anew = sum(row.bytes_after or 0 for row in rows[first:])
    freed = sum((row.bytes_before or 0) - (row.bytes_after or 0) for row in rows)
    tokens = round(anew * ratio)
    full = prices.cache_write or prices.input
    if full is None or prices.cache_read is None:
        return Rebilling(anew, tokens, None, None)
    cost = tokens * (full - prices.cache_read) / MILLION
    saved = round(freed * ratio) * prices.cache_read / MILLION
    if spent is None or saved <= 0:
        return Rebilling(anew, tokens, cost, None)
    return Rebilling(anew, tokens, cost, math.ceil((cost + spent) / saved))
