"""The presets: all are data, an ordered list of strategies with parameters."""

from __future__ import annotations

from collections.abc import Mapping

from agentcore.options import Stage, SummaryFailure, SummaryInput, SummaryOptions
from agentcore.pressure import Unit
from agentcore.profile import Profile

PRESETS: Mapping[str, Profile] = {
    "nanohermes": Profile(
        stages=(Stage("keep_recent", at=1.0, above=True, keep=10),),
        budget=120_000,
        unit=Unit.BYTES,
        reserve=0,
        counts_schemas=False,
        result_share=False,
        summary=SummaryOptions(input=SummaryInput.CONTENT_ONLY, on_failure=SummaryFailure.NOTE),
    ),
    "balanced": Profile(stages=(Stage("keep_recent", keep=10, to_target=True),)),
}
