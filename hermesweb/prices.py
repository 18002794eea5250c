from __future__ import annotations

from agentcore.usage import Prices
from hermesweb.models import ModelEndpoint


def prices_of(name: str) -> Prices:
    """Those that an admin gave the model of that name; none are known of another."""
    row = ModelEndpoint.objects.filter(name=name).first()
    return prices_in(row) if row else Prices()


def prices_in(row: ModelEndpoint) -> Prices:
    return Prices(
        row.input_price,
        row.output_price,
        row.cache_read_price,
        row.cache_write_price,
        source=row.name,
    )
