from __future__ import annotations

from typing import Any

from django.http import Http404
from ninja import Router

from hermesweb import acts, versions
from hermesweb.api.strict import Body, staff_only
from hermesweb.http import SignedIn
from hermesweb.models import ProfileVersion

router = Router(tags=["profiles"])


class Saved(Body):
    values: dict[str, Any]
    accept_warnings: bool = False


@router.get("/profiles")
def many(request: SignedIn) -> dict[str, Any]:
    """The version in force of each."""
    return {
        "items": [_shape(version) for version in versions.current().order_by("profile__name")],
        "next": None,
    }


@router.get("/profiles/{name}")
def one(request: SignedIn, name: str) -> dict[str, Any]:
    """The version in force."""
    version = versions.current().filter(profile__name=name).first()
    if version is None:
        raise Http404(f"there is no profile {name}")
    return _shape(version)


@router.put("/profiles/{name}")
def save(request: SignedIn, name: str, body: Saved) -> dict[str, Any]:
    """Makes a version, for staff only. What is left out has its default; where the values do not
    work well together the refusal says why, and `accept_warnings` saves them all the same."""
    staff_only(request)
    version = acts.save_profile(
        request.user, name, body.values, accept_warnings=body.accept_warnings
    )
    return _shape(version)


def _shape(version: ProfileVersion) -> dict[str, Any]:
    """`errors`: what a check that came later refuses it for; no run uses it then."""
    return {
        "name": version.profile.name,
        "version": version.number,
        "values": version.values,
        "warnings": version.readable.warnings() if version.readable else [],
        "errors": [version.fault] if version.fault else [],
        "at": version.at,
    }
