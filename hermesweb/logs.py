from __future__ import annotations

import logging

from agentcore.redact import mask


class MaskedLine(logging.Formatter):
    """A line, and the traceback below it, without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        return mask(super().format(record))[0]
