"""The command line of the library: `python -m agentcore COMMAND FILE`.

Exit codes: 0 fine, 1 problems found, 2 bad input with a message on stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from agentcore.commands import compact, diff, inspect, lint, simulate
from agentcore.commands.told import BAD_INPUT, FINE, note
from agentcore.errors import AgentcoreError


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m agentcore", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (inspect, lint, compact, simulate, diff):
        command.add(commands)
    chosen = parser.parse_args(arguments)
    try:
        code: int = chosen.run(chosen)
        sys.stdout.flush()
    except AgentcoreError as error:
        note(str(error))
        return BAD_INPUT
    except BrokenPipeError:
        return _unread()
    return code


def _unread() -> int:
    """Whoever read the output, as `head` does, has seen enough. Python's own last flush would
    fail on the pipe once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FINE


if __name__ == "__main__":
    sys.exit(main())
