"""Long texts, stored once each."""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence

from django.db.models import F

from hermesweb.models import Body

# Under the number of variables that every SQLite takes in one statement.
CHUNK = 500


def keep(texts: Sequence[str]) -> list[str]:
    """Store what is not there yet and count one reference a text; the keys, in order."""
    raws = [text.encode("utf-8", "surrogatepass") for text in texts]
    keys = [hashlib.sha256(raw).hexdigest() for raw in raws]
    known = _known(keys)
    Body.objects.bulk_create(
        [
            Body(sha256=key, bytes=len(raw), data=zlib.compress(raw))
            for key, raw in dict(zip(keys, raws, strict=True)).items()
            if key not in known
        ],
        batch_size=CHUNK,
        ignore_conflicts=True,
    )
    share(keys)
    return keys


def share(keys: Iterable[str]) -> None:
    """One more reference a key to what is stored."""
    for count, same in _by_count(keys):
        Body.objects.filter(sha256__in=same).update(references=F("references") + count)


def release(keys: Iterable[str]) -> None:
    """Take one reference a key away; what nobody refers to any more is deleted."""
    for count, same in _by_count(keys):
        Body.objects.filter(sha256__in=same).update(references=F("references") - count)
        Body.objects.filter(sha256__in=same, references=0).delete()


def _known(keys: Sequence[str]) -> set[str]:
    return {
        key
        for start in range(0, len(keys), CHUNK)
        for key in Body.objects.filter(sha256__in=keys[start : start + CHUNK]).values_list(
            "sha256", flat=True
        )
    }


def _by_count(keys: Iterable[str]) -> Iterable[tuple[int, list[str]]]:
    groups: dict[int, list[str]] = {}
    for key, count in Counter(keys).items():
        groups.setdefault(count, []).append(key)
    for count, same in groups.items():
        for start in range(0, len(same), CHUNK):
            yield count, same[start : start + CHUNK]
