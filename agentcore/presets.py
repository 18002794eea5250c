"""The presets: all are data, an ordered list of strategies with parameters (spec-compaction 10)."""

from __future__ import annotations

from collections.abc import Mapping

from agentcore.options import Stage, SummaryFailure, SummaryInput, SummaryOptions, SummarySource
from agentcore.pressure import Unit
from agentcore.profile import Profile

# Tokens left in the window at which the first stage of a hybrid preset starts too.
HYBRID_TOKENS = 40_000
# What claude-code keeps free: 20K for the reply and 13K before it.
RESERVE_TOKENS, BUFFER_TOKENS = 20_000, 33_000
KAIRO_WINDOW = 200_000

SIX_STAGES = (
    Stage("snip", buffer=HYBRID_TOKENS, keep=5),
    Stage("micro", keep=0),
    Stage("collapse", keep=0),
    Stage("auto", keep=3),
    Stage("partial", keep=5),
    Stage("last_resort", keep=0),
)

PRESETS: Mapping[str, Profile] = {
    "nanohermes": Profile(
        stages=(Stage("keep_recent", at=1.0, above=True, keep=10),),
        budget=120_000,
        unit=Unit.BYTES,
        reserve=0,
        counts_schemas=False,
        result_share=False,
        summary=SummaryOptions(
            source=SummarySource.ROLLING,
            input=SummaryInput.CONTENT_ONLY,
            on_failure=SummaryFailure.NOTE,
        ),
    ),
    "kairo": Profile(
        stages=SIX_STAGES, assumed_window=KAIRO_WINDOW, reserve=0, pins_first_user=True
    ),
    "claude-code": Profile(
        stages=tuple(
            Stage(strategy, at=1.0, buffer=BUFFER_TOKENS, keep=keep)
            for strategy, keep in (
                ("share", 0),
                ("snip", 5),
                ("micro", 0),
                ("collapse", 0),
                ("auto", 3),
            )
        ),
        reserve=RESERVE_TOKENS,
    ),
    "observation-masking": Profile(stages=(Stage("mask", at=0.80, keep=10),)),
    "elastic": Profile(stages=(Stage("elastic", at=0.80, keep=0),)),
    "recall": Profile(
        stages=(Stage("keep_recent", at=0.80, keep=10, to_target=True),), recall=True
    ),
    "balanced": Profile(stages=(*SIX_STAGES, Stage("fair_share", at=1.0, above=True, keep=0))),
}
