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
from itertools import product
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
    parted,
    recorded,
)
from planted import chinese, english  # noqa: E402

from agentcore.options import SummarySource  # noqa: E402

SEEDS = range(5)
SHARES = (1.0, 0.95, 0.9, 0.8)
STAGES = {"short": SHORT, "structured": STRUCTURED}


def sessions(folder: Path | None) -> Iterator[Session]:
    languages = {"english": english(), "chinese": chinese()}
    for talk, (language, planted) in product(("work", "talk", "reading"), languages.items()):
        yield generated(talk, planted, f"{talk}, {language}")
    for path in sorted(folder.rglob("*.*")) if folder else ():
        for messages in recorded(path):
            yield Session(path.stem, english(), parted(messages))


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
