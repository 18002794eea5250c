"""`python tests/bench/summary_source.py [FOLDER OF RECORDINGS]`: rolling beside archive summaries.

What is asked: are facts of the first turn still in the list after five compactions, and how many
tokens did the summaries take? Facts are planted in the first turn (tests/planted.py), the rest of a
session, generated or recorded, follows in five parts, and after each a compaction is asked for by
hand. No model is asked: tests/forgetful.py stands in for one and says what its figures are worth.
Tokens are the estimate by script of every request and every answer, a session.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from forgetful import (  # noqa: E402
    ROUNDS,
    SHORT,
    STRUCTURED,
    Forgetful,
    Outcome,
    Session,
    compacted,
    generated,
)
from planted import chinese, english  # noqa: E402

from agentcore import Snapshot  # noqa: E402
from agentcore.compaction.plan import apply_plan  # noqa: E402
from agentcore.compaction.repair import repair  # noqa: E402
from agentcore.errors import AgentcoreError  # noqa: E402
from agentcore.messages import Message, Role  # noqa: E402
from agentcore.options import SummarySource  # noqa: E402
from agentcore.transcripts import load_all  # noqa: E402

SEEDS = range(5)
SHARES = (1.0, 0.95, 0.9, 0.8)
STAGES = {"short": SHORT, "structured": STRUCTURED}
# A recording with fewer messages cannot be compacted five times.
FEWEST = 60


def sessions(folder: Path | None) -> Iterator[Session]:
    languages = {"english": english(), "chinese": chinese()}
    for talk, (language, planted) in product(("work", "talk", "reading"), languages.items()):
        yield generated(talk, planted, f"{talk}, {language}")
    for path in sorted(folder.rglob("*.*")) if folder else ():
        for messages in recorded(path):
            yield Session(path.stem, english(), parted(messages))


def recorded(path: Path) -> Iterator[Sequence[Message]]:
    """The talk of each recording that is long enough; none of a file that no reader knows."""
    try:
        recordings = load_all(path)
    except AgentcoreError:
        return
    for recording in recordings:
        said = [one for one in recording.messages if not one.is_summary and one.replaces is None]
        whole = Snapshot.of(said)
        plan, _ = repair(whole)
        messages = apply_plan(plan, whole)[0].messages[whole.leading :]
        if len(messages) >= FEWEST:
            yield messages


def parted(messages: Sequence[Message]) -> tuple[Sequence[Message], ...]:
    """About as many messages in each part; no result is parted from its call."""
    cuts = [0]
    for part in range(1, ROUNDS):
        row = len(messages) * part // ROUNDS
        while messages[row].role is Role.TOOL:
            row += 1
        cuts.append(row)
    return tuple(messages[start:stop] for start, stop in pairwise([*cuts, len(messages)]))


def told(kind: str, share: float, source: SummarySource, runs: Sequence[Outcome]) -> str:
    whole = sum(run.known == run.planted for run in runs) / len(runs)
    known = sum(run.known for run in runs) / sum(run.planted for run in runs)
    columns = zip(*((run.asked, run.wrote, run.left_out) for run in runs), strict=True)
    asked, wrote, left_out = (sum(column) // len(runs) for column in columns)
    return (
        f"{kind:11} {share:7.0%}  {source:8} {known:11.1%} {whole:10.1%}"
        f" {asked:10,} {wrote:11,} {left_out:9,}"
    )


def main() -> None:
    chosen = list(sessions(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
    print(f"{len(chosen)} sessions, {len(SEEDS)} seeds, {ROUNDS} compactions each")
    print("summary     takes up  source   facts known  knows all  tokens in  tokens out  left out")
    for (kind, stage), share, source in product(STAGES.items(), SHARES, SummarySource):
        runs = [
            compacted(session, stage, source, Forgetful(share, seed))
            for session, seed in product(chosen, SEEDS)
        ]
        print(told(kind, share, source, runs), flush=True)
    print("\nsession                          summary     source   facts known  tokens in")
    for session, (kind, stage), source in product(chosen, STAGES.items(), SummarySource):
        run = compacted(session, stage, source, Forgetful(1.0, 0))
        known = f"{run.known} of {run.planted}"
        print(f"{session.name:32} {kind:11} {source:8} {known:>11} {run.asked:10,}")


if __name__ == "__main__":
    main()
