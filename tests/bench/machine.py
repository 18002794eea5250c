"""`python tests/bench/machine.py [STEPS] [--postgresql]`: the rule machine over the real recorder.

On a new SQLite file, or with `--postgresql` on a server of its own. After every step all rules are
checked and lists that there were are rebuilt from rows. Prints steps and seconds; a broken rule
ends it with the steps that led there.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

import django  # noqa: E402
from django.core.management import call_command  # noqa: E402
from postgres import binaries, server  # noqa: E402

STEPS = 100_000
# What is proven does not outlive the run, so it lies in memory where there is such a folder.
MEMORY = Path("/dev/shm")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steps", type=int, nargs="?", default=STEPS)
    parser.add_argument("--postgresql", action="store_true")
    chosen = parser.parse_args()
    # So that the server ends with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    in_memory = MEMORY if os.access(MEMORY, os.W_OK) else None
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=in_memory)))
        os.environ["DATABASE_URL"] = ""
        os.environ["HERMESWEB_DATA_DIR"] = str(folder)
        if chosen.postgresql:
            found = binaries()
            assert found, "no PostgreSQL on this machine: apt-get install postgresql"
            (folder / "server").mkdir()
            os.environ["DATABASE_URL"] = stack.enter_context(server(folder / "server", found))
        run(chosen.steps)


def run(wanted: int) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "hermesweb.settings"
    django.setup()
    call_command("migrate", verbosity=0)
    from django.db import connection
    from rows import run_steps

    started = time.monotonic()
    steps = run_steps(wanted)
    seconds = time.monotonic() - started
    print(f"{steps:,} steps on {connection.vendor} in {seconds:.0f} s, no rule broken")
    connection.close()


if __name__ == "__main__":
    main()
