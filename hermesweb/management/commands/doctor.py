from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management import BaseCommand

from hermesweb import checkup
from hermesweb.checkup import Finding

# Name: the check, and the one that must be ok before it makes sense.
CHECKS: dict[str, tuple[Callable[[], Finding], str | None]] = {
    "python": (checkup.python, None),
    "data folder": (checkup.data_folder, None),
    "database": (checkup.database, "data folder"),
    "database write": (checkup.database_write, "database"),
    "broker": (checkup.broker, None),
    "worker": (checkup.worker, "broker"),
    "web": (checkup.web, None),
    "web socket": (checkup.web_socket, "web"),
    "browser": (checkup.browser, None),
}


class Command(BaseCommand):
    help = "Look at everything Hermesweb needs and say what to do. Exit code 1: a problem."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data-dir", help="of the installation to look at")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, **options: Any) -> None:
        findings: dict[str, Finding] = {}
        for name, (check, needs) in CHECKS.items():
            if needs and not findings[needs].ok:
                findings[name] = Finding(False, f"not looked at: {needs} comes first")
            else:
                findings[name] = check()
            if not options["json"]:
                self._tell(name, findings[name])
        if options["json"]:
            checks = [
                {"check": name, "ok": finding.ok, "detail": finding.detail}
                for name, finding in findings.items()
            ]
            self.stdout.write(json.dumps({"checks": checks}))
        if not all(finding.ok for finding in findings.values()):
            sys.exit(1)

    def _tell(self, name: str, finding: Finding) -> None:
        self.stdout.write(f"{'ok ' if finding.ok else 'NO '} {name:<15} {finding.detail}")
