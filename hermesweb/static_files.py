from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

# Of the plotly package only the script is served.
LEFT_OUT = ["widgetbundle.js", "datasets", "package_data/templates"]


def collect() -> None:
    """Gather, hash and compress the static files, unless that was done with these very files."""
    root = settings.STATIC_ROOT
    assert root is not None  # Only the tests have none.
    root.mkdir(exist_ok=True)
    stamp = root / ".stamp"
    with (root / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = hashlib.sha256("\n".join(sorted(_sources())).encode()).hexdigest()
        if stamp.exists() and stamp.read_text() == wanted:
            return
        call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=LEFT_OUT)
        stamp.write_text(wanted)


def _sources() -> Iterator[str]:
    for finder in get_finders():
        for path, storage in finder.list(LEFT_OUT):
            found = Path(storage.path(path)).stat()
            yield f"{path} {found.st_size} {found.st_mtime_ns}"
