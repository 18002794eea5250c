from __future__ import annotations

from typing import Any

import pytest
from builders import a_user
from calls import Caller, problem
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agentcore import PRESETS
from hermesweb.models import AuditEntry, Profile

pytestmark = pytest.mark.django_db

NANO = PRESETS["nanohermes"].values()


@pytest.fixture
def staff() -> Caller:
    return Caller(a_user("eve", is_staff=True))


def changed(**values: Any) -> dict[str, Any]:
    return {"values": {**PRESETS["balanced"].values(), **values}}


def test_profiles_come_with_values_and_warnings() -> None:
    caller = Caller(a_user())
    found = {one["name"]: one for one in caller.get("profiles").json()["items"]}
    assert set(PRESETS) <= set(found)
    assert found["balanced"]["values"] == caller.get("profiles/balanced").json()["values"]
    assert found["balanced"]["warnings"] == []
    assert "compacts every turn" in found["nanohermes"]["warnings"][0]
    assert problem(caller.get("profiles/none"))[:2] == (404, "not_found")


def test_saving_makes_the_next_version_and_an_audit_entry(staff: Caller) -> None:
    got = staff.put("profiles/balanced", changed(budget=50_000)).json()
    assert (got["version"], got["values"]["budget"]) == (2, 50_000)
    assert Profile.objects.get(name="balanced").current.number == 2
    entry = AuditEntry.objects.get(chain="", action="profile_saved")
    assert (entry.who, entry.old["budget"], entry.new["values"]["budget"]) == ("eve", None, 50_000)


def test_saving_the_same_values_makes_no_version(staff: Caller) -> None:
    assert staff.put("profiles/balanced", changed()).json()["version"] == 1
    assert not AuditEntry.objects.exists()


def test_texts_that_cannot_be_stored_are_replaced_and_its_page_is_shown(
    staff: Caller, client: Client
) -> None:
    odd = {"persona": "half \ud800, none \0", "doc_names": ["half \udfff.md"]}
    body = changed(documents=odd)
    kept = [staff.put("profiles/mine", body).json() for _ in range(2)][-1]
    assert kept["version"] == 1
    assert kept["values"]["documents"]["persona"] == "half ?, none \u2400"
    mine = Profile.objects.get(name="mine")
    client.force_login(User.objects.get(username="eve"))
    page = reverse("admin:hermesweb_profile_change", args=[mine.pk])
    assert client.get(page).status_code == 200
    mine.versions.update(values=body["values"])
    assert client.get(page).status_code == 200


def test_a_new_name_makes_a_profile(staff: Caller) -> None:
    assert staff.put("profiles/mine", changed(budget=9_000)).json()["version"] == 1


def test_warnings_are_told_and_have_to_be_accepted(staff: Caller) -> None:
    body = {"values": {**NANO, "budget": 100_000}}
    refused = staff.put("profiles/nanohermes", body)
    assert problem(refused) == (409, "warnings", None)
    assert "compacts every turn" in refused.json()["error"]["message"]
    assert Profile.objects.get(name="nanohermes").current.number == 1
    assert (
        staff.put("profiles/nanohermes", {**body, "accept_warnings": True}).json()["version"] == 2
    )


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"budget": -1}, "budget"),
        ({"budget": "much"}, "budget"),
        ({"unit": "pounds"}, "unit"),
        ({"target": 0.99}, "target"),
        ({"target": "x"}, "target"),
        ({"stages": []}, "stages"),
        ({"stages": [{"strategy": "no_such"}]}, "stages"),
        ({"stages": 5}, "stages"),
        ({"stages": [{"strategy": 5}]}, "stages"),
        ({"stages": [{"strategy": "__class__"}]}, "stages"),
        ({"stages": [{"strategy": "snip", "above": "no"}]}, "stages"),
        ({"recall": "no"}, "recall"),
        ({"counts_schemas": 0}, "counts_schemas"),
        ({"limits": {"result_bytes": -1}}, "limits.result_bytes"),
        ({"limits": {"no_such": 1}}, "limits.no_such"),
        ({"summary": {"on_failure": "panic"}}, "summary.on_failure"),
        ({"summary": {"words": "many"}}, "summary.words"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_value_is_refused_at_its_field(
    staff: Caller, values: dict[str, Any], field: str
) -> None:
    assert problem(staff.put("profiles/balanced", changed(**values))) == (422, "invalid", field)
    assert Profile.objects.get(name="balanced").current.number == 1


def test_only_staff_saves() -> None:
    assert problem(Caller(a_user()).put("profiles/balanced", changed()))[:2] == (403, "forbidden")


def test_a_wrong_name_is_refused(staff: Caller) -> None:
    assert problem(staff.put("profiles/a b", changed())) == (422, "invalid", "name")
