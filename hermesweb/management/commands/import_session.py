from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management import BaseCommand, CommandError

from agentcore.errors import TranscriptError
from hermesweb import checkup, sign_in
from hermesweb.imports import import_recording

BAD_INPUT = 2


class Command(BaseCommand):
    help = "Import recorded sessions (OpenAI chat JSON, Claude Code JSONL) to look at."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="+", type=Path)
        parser.add_argument("--owner", help="user name (default: the local owner)")
        parser.add_argument("--data-dir", help="of the installation that gets the sessions")

    def handle(self, **options: Any) -> None:
        database = checkup.database()
        if not database.ok:
            raise CommandError(database.detail, returncode=BAD_INPUT)
        owner = self._owner(options["owner"])
        refused = 0
        for path in options["file"]:
            try:
                session = import_recording(owner, path.read_bytes(), path.name)
            except (TranscriptError, OSError) as error:
                refused += 1
                self.stderr.write(f"{path}: {error}")
            else:
                self.stdout.write(f"{session.pk}  {path}: {session.title}")
        if refused:
            raise CommandError(f"{refused} not imported", returncode=BAD_INPUT)

    def _owner(self, name: str | None) -> User:
        if name is None:
            return sign_in.local_owner()
        owner = User.objects.filter(username=name).first()
        if owner is None:
            raise CommandError(f"there is no user {name!r}", returncode=BAD_INPUT)
        return owner
