"""Who calls the API in tests."""

from __future__ import annotations

import hashlib
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from hermesweb.models import UserToken

JSON = "application/json"


class Caller:
    """A script with a user's token; without a user it has none. Paths are those under /api/v1/."""

    def __init__(self, user: User | None = None) -> None:
        headers = {}
        if user:
            token = f"token-of-{user}"
            sha256 = hashlib.sha256(token.encode()).hexdigest()
            UserToken.objects.update_or_create(user=user, defaults={"sha256": sha256})
            headers = {"Authorization": f"Bearer {token}"}
        self._client = Client(headers=headers)

    def get(self, path: str, **query: Any) -> HttpResponse:
        return self._client.get(f"/api/v1/{path}", query)

    def post(self, path: str, body: Any = None) -> HttpResponse:
        return self.send("POST", path, body)

    def put(self, path: str, body: Any = None) -> HttpResponse:
        return self.send("PUT", path, body)

    def patch(self, path: str, body: Any) -> HttpResponse:
        return self.send("PATCH", path, body)

    def delete(self, path: str, body: Any = None) -> HttpResponse:
        return self.send("DELETE", path, body)

    def upload(self, path: str, file: SimpleUploadedFile) -> HttpResponse:
        return self._client.post(f"/api/v1/{path}", {"file": file})

    def send(self, verb: str, path: str, body: Any = None) -> HttpResponse:
        """A text or bytes as body are sent as they are, all else as JSON."""
        client = self._client
        if body is None:
            return client.generic(verb, f"/api/v1/{path}")
        encoded = body if isinstance(body, str | bytes) else client._encode_json(body, JSON)
        return client.generic(verb, f"/api/v1/{path}", encoded, content_type=JSON)


def problem(response: HttpResponse) -> tuple[int, str, str | None]:
    """Status, code and field of a failure."""
    error = response.json()["error"]
    assert error["message"]
    return response.status_code, error["code"], error.get("field")
