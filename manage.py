#!/usr/bin/env python3
from __future__ import annotations

import argparse
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hermesweb.settings")
    # The settings need the data folder before Django reads the command's own options.
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument("--data-dir")
    data_dir = early.parse_known_args()[0].data_dir
    if data_dir:
        os.environ["HERMESWEB_DATA_DIR"] = os.path.abspath(data_dir)

    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        print(f"hermesweb: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
