from __future__ import annotations


class Invalid(Exception):
    """Input that cannot be used; `field` is where it stands."""

    def __init__(self, text: str, field: str) -> None:
        super().__init__(text)
        self.field = field


class Refused(Exception):
    """An act that cannot be done as things are; `code` is a word for scripts."""

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self.code = code
