"""What the administration calls tables and columns: their names, in the reader's language."""

from __future__ import annotations

from django.db.models import Model

from hermesweb.labels import words_lazy

# Where the name in the code means something else beside the other columns.
OTHER = {"number": "version"}


def name(model: type[Model]) -> None:
    """Instead of what Django derived from names in the code; no migration knows of it."""
    options = model._meta
    options.verbose_name = words_lazy(str(options.verbose_name))
    options.verbose_name_plural = words_lazy(str(options.verbose_name_plural))
    for field in options.local_fields:
        field.verbose_name = words_lazy(OTHER.get(field.name, field.name))
