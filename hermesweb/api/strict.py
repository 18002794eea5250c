"""What all calls ask of a request beside its sign-in."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from ninja import Schema
from pydantic import ConfigDict

from hermesweb.http import SignedIn


class Body(Schema):
    """A JSON object without unknown members."""

    model_config = ConfigDict(extra="forbid")


def staff_only(request: SignedIn) -> None:
    if not request.user.is_staff:
        raise PermissionDenied("Only staff may do this.")
