from __future__ import annotations

import shutil
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from agentcore.memory import EntryKind
from hermesweb import acts, checkup, memory, sign_in
from hermesweb.endpoints import EXPLORER

TITLE = "Demo: the explorer reads Hermesweb"
INSTRUCTION = (
    "Find out how this project bounds, measures and compacts what an agent sends, "
    "and name the files that matter most. Write what you saw to notes.md."
)
# What a workspace says of itself, so that each has its place in the system message.
SAID = {
    "AGENTS.md": "- Read before you judge.\n- Name files by their path.\n",
    ".hermes/skills/reading/SKILL.md": (
        "---\nname: reading\ndescription: How to read an unknown project\n---\n"
        "Begin with what describes it, then follow the names that it uses most.\n"
    ),
}
# Said in the name of the owner, so that the first run has something to recall.
REMEMBERED = "Whoever asks what this project does wants the files that matter named by their path."


class Command(BaseCommand):
    help = "Start a session in which the explorer reads a copy of agentcore. Needs no key."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data-dir", help="of the installation that gets the session")

    def handle(self, **options: Any) -> None:
        database = checkup.database()
        if not database.ok:
            raise CommandError(database.detail, returncode=2)
        # A copy, so that it lies inside an allowed root wherever Hermesweb was started.
        folder = (settings.WORKSPACES / "demo").resolve()
        source = settings.BASE_DIR / "agentcore"
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, folder / source.name, ignore=left_out, dirs_exist_ok=True)
        for path, text in SAID.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        owner = sign_in.local_owner()
        if not memory.of_owner(owner).filter(workspace=str(folder), text=REMEMBERED).exists():
            acts.remember(owner, workspace=str(folder), kind=EntryKind.PREFERENCE, text=REMEMBERED)
        session = acts.create(
            owner,
            workspace=str(folder),
            model=EXPLORER,
            # Small enough to fill and compact within a few turns.
            profile="small",
            title=TITLE,
            instruction=INSTRUCTION,
        )
        self.stdout.write(f"demo session {session.pk}: {TITLE}")
