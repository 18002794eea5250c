from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.redact import (
    MASKED,
    WITHHELD,
    mask,
    masked_start,
    settled,
    whole_start,
    without_keys,
)

ROOT = Path(__file__).resolve().parents[2]
HEX = "0123456789abcdef" * 4
MIXED = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY" * 2
PEM = "-----{0} {1}PRIVATE KEY-----"


def key(*parts: str) -> str:
    """Joined here, so that no file holds what looks like a key."""
    return "".join(parts)


SHAPES = {
    "openai": key("sk-", MIXED[:40]),
    "openai project": key("sk-proj-", MIXED),
    "anthropic": key("sk-ant-", "api03-", MIXED),
    "openrouter": key("sk-or-v1-", HEX),
    "stripe": key("sk_", "live_", MIXED[:24]),
    "stripe restricted": key("rk_", "live_", MIXED[:24]),
    "stripe hook": key("whsec_", MIXED[:32]),
    "aws id": key("AKIA", "QWERTYUIOPASDFGH"),
    "aws passing id": key("ASIA", "QWERTYUIOPASDFGH"),
    "github": key("ghp_", MIXED[:36]),
    "github app": key("ghs_", MIXED[:36]),
    "github fine": key("github_", "pat_", MIXED[:22], "_", MIXED[:50]),
    "gitlab": key("glpat-", MIXED[:20]),
    "grafana": key("glsa_", MIXED[:32], "_", HEX[:8]),
    "slack bot": key("xoxb-", "123456789012-", MIXED[:24]),
    "slack app": key("xapp-", "1-", MIXED[:30]),
    "slack hook": key("hooks.slack.com", "/services/T0000/B0000/", MIXED[:24]),
    "discord hook": key("discord.com", "/api/webhooks/12345/", MIXED),
    "discord bot": key("M", MIXED[:23], ".", MIXED[:6], ".", MIXED[:30]),
    "google": key("AIza", MIXED[:35]),
    "google client": key("GOCSPX-", MIXED[:28]),
    "google access": key("ya29.", MIXED),
    "npm": key("npm_", MIXED[:36]),
    "pypi": key("pypi-", "AgE", MIXED),
    "sendgrid": key("SG.", MIXED[:22], ".", MIXED[:43]),
    "twilio": key("SK", HEX[:32]),
    "mailgun": key("key-", HEX[:32]),
    "telegram": key("123456789:", "AA", MIXED[:33]),
    "hugging face": key("hf_", MIXED[:34]),
    "digitalocean": key("dop_v1_", HEX),
    "databricks": key("dapi", HEX[:32]),
    "shopify": key("shpat_", HEX[:32]),
    "square": key("sq0atp-", MIXED[:22]),
    "linear": key("lin_api_", MIXED[:40]),
    "notion": key("ntn_", MIXED[:46]),
    "postman": key("PMAK-", HEX[:24], "-", HEX[:34]),
    "vault": key("hvs.", MIXED[:40]),
    "doppler": key("dp.pt.", MIXED[:43]),
    "age": key("AGE-SECRET-KEY-1", "Q" * 58),
    "groq": key("gsk_", MIXED[:52]),
    "jwt": key("eyJ", MIXED[:20], ".eyJ", MIXED[:30], ".", MIXED[:43]),
    "pem": f"{PEM.format('BEGIN', 'RSA ')}\n{MIXED}\n{MIXED}\n{PEM.format('END', 'RSA ')}",
    "pem without its end": f"{PEM.format('BEGIN', 'OPENSSH ')}\n{MIXED}\n{MIXED[:9]}",
}
# What stands before the secret, the secret, what stands after it.
NAMED = [
    ("PASSWORD=", "correct horse", "\nMONKEY=banana"),
    ("export VENDOR_API_KEY=", "zz9-plural-alpha", ""),
    ("AWS_SECRET_ACCESS_KEY=", MIXED[:40], "\n"),
    ('DB_PASSWORD="', "correct horse", '"\n'),
    ("SECRET_KEY='", "django-insecure-1+x", "'"),
    ('{"password": "', "swordfish", '"}'),
    ('{"apiKey": "', "0d9f8a7b", '"}'),
    ('{"client_secret":"', "q1w2e3r4", '"}'),
    (r"{\"access_token\": \"", "q1w2e3r4t5", r"\"}"),
    ("password: ", "hunter2hunter", "\nuser: me"),
    ("auth_token = '", "q1w2e3r4", "'"),
    ("curl -u me --password ", "hunter2x", " https://x"),
    ("postgres://me:", "s3cret!", "@db:5432/x"),
    ("https://bot:", "letmein", "@example.org/x.git"),
    ("Authorization: Bearer ", "abcdef0123456789abcdef", "\n"),
    ("Authorization: Basic ", "dXNlcjpwYXNzd29yZA==", "\n"),
    ("AccountName=x;AccountKey=", f"{MIXED[:40]}==", ";EndpointSuffix=y"),
    ("https://x.blob/y?sv=1&sig=", "a1b2c3d4e5f6a1b2c3d4%3D", "&se=2"),
    ("Server=x;Password=", "q1w2e3", ";Timeout=3"),
]
ORDINARY = [
    "MONKEY=banana",
    "PATH=/usr/bin:/bin",
    "PWD=/home/me/project1",
    "max_tokens=4096",
    '"max_tokens": 4096, "token": null',
    "token = self.next_token(position)",
    "password: str = field(default='')",
    'api_key = os.environ["API_KEY"]',
    "PASSWORD=$1",
    "API_KEY=<your key>",
    '"password": {"type": "string"}',
    "The secret of good soup is time; the token 42 is rare.",
    "passwords must have 8 characters",
    "def token(self) -> Token: ...",
    "git commit 0123456789abcdef0123456789abcdef01234567",
    "sk-learn and sk-image are libraries",
    "https://example.org:8080/a@b",
    "https://user:${PASSWORD}@example.org",
    "ssh-rsa AAAAB3NzaC1yc2E me@host",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "primary_key=True, key=lambda pair: pair[1]",
    "密码：请输入",
]


@pytest.mark.parametrize("secret", SHAPES.values(), ids=SHAPES)
def test_a_secret_is_known_by_its_shape(secret: str) -> None:
    text, count = mask(f"it printed {secret} and went on" if "PRIVATE" not in secret else secret)
    assert count == 1
    assert MASKED in text
    for part in secret.replace("-----", "\n").split("\n"):
        assert "PRIVATE KEY" in part or not part or part not in text


@pytest.mark.parametrize(("before", "secret", "after"), NAMED)
def test_a_secret_is_known_by_what_stands_before_it(before: str, secret: str, after: str) -> None:
    assert mask(f"{before}{secret}{after}") == (f"{before}{MASKED}{after}", 1)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert mask(text) == (text, 0)
    assert mask(json.dumps({"content": text})) == (json.dumps({"content": text}), 0)


def test_masking_twice_changes_nothing() -> None:
    once, count = mask("\n".join([*SHAPES.values(), *("".join(one) for one in NAMED)]))
    assert count >= len(SHAPES)
    assert mask(once) == (once, 0)


pieces = st.sampled_from(
    [*SHAPES.values(), *("".join(one) for one in NAMED), '"', "\\", "\n", "=", " ", "é", "😀", "{"]
)


@given(st.lists(pieces, max_size=12).map("".join))
def test_json_stays_json_at_every_depth(text: str) -> None:
    for _ in range(3):
        value = json.loads(mask(json.dumps({"content": text}, ensure_ascii=False))[0])
        assert list(value) == ["content"]
        text = json.dumps(value)


def test_a_secret_is_masked_in_the_wire_form_as_in_plain_text() -> None:
    plain = "\n".join("".join(one).strip() for one in NAMED[:4])
    _, count = mask(plain)
    assert count == 4
    assert mask(json.dumps({"content": plain}))[1] == 4
    assert mask(json.dumps({"arguments": json.dumps({"text": plain})}))[1] == 4


@pytest.mark.parametrize(
    "unit", ["password ", "a" * 10, "-----BEGIN PRIVATE KEY-----", "://", "sk-", "KEY=", "\\"]
)
def test_long_text_of_one_kind_is_masked_in_linear_time(unit: str) -> None:
    """By a program of its own, which takes a fraction of a second: work that grows with the square
    of the length would not end in the time it has, and a pattern that runs cannot be stopped."""
    work = f"from agentcore.redact import mask; mask(({unit!r} * 10**6)[:10**6])"
    subprocess.run([sys.executable, "-c", work], cwd=ROOT, check=True, timeout=60)


def test_ordinary_messages_are_hardly_ever_masked(shared: Path) -> None:
    """False positives at most 1%; the recordings hold no secrets that were not made up."""
    masked = seen = 0
    for path in sorted((shared / "transcripts").rglob("*.json*")):
        for text in _texts_of(path):
            seen += 1
            masked += bool(mask(text)[1])
    assert seen > 10_000
    assert masked <= seen / 100


def test_the_programs_own_keys_are_replaced_by_their_exact_values() -> None:
    own = key("a-key-of-", "the program")
    text = f"env says {own} twice: {own}; short stays"
    assert without_keys(text, [own, "", "short"]) == (
        f"env says {WITHHELD} twice: {WITHHELD}; short stays"
    )


def _texts_of(path: Path) -> Iterator[str]:
    whole = path.read_text(errors="replace")
    for line in [whole] if path.suffix == ".json" else whole.splitlines():
        try:
            yield from _strings(json.loads(line))
        except json.JSONDecodeError:
            continue


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str) and len(value) > 20:
        yield value
    elif isinstance(value, dict):
        value = list(value.values())
    for one in value if isinstance(value, list) else ():
        yield from _strings(one)


def test_what_follows_a_private_key_is_not_taken_for_a_part_of_it() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIexample\n-----END PRIVATE KEY-----"
    assert mask(f"{key}\nMONKEY=banana") == (f"{MASKED}\nMONKEY=banana", 1)


@pytest.mark.parametrize("secret", SHAPES.values(), ids=SHAPES)
def test_a_secret_at_the_end_of_what_is_shown_is_masked_whole(secret: str) -> None:
    for start in range(60, 100):
        text = f"{'it printed that ' * 10}"[:start] + f" {secret} " + "and more " * 600
        assert not secret.startswith(masked_start(text, 100)[start + 1 :][:8] or "\0")


@pytest.mark.parametrize(
    ("before", "secret", "after"), [*(("it printed ", one, " ") for one in SHAPES.values()), *NAMED]
)
def test_what_is_cut_before_it_is_masked_ends_with_no_half_of_a_secret(
    before: str, secret: str, after: str
) -> None:
    text = f"{before}{secret}{after}" + "and more " * 600
    for chars in range(len(before) + 1, len(before) + len(secret)):
        assert before.startswith(whole_start(text, chars)), chars
    assert whole_start(ORDINARY[0] * 100, 50) == (ORDINARY[0] * 100)[:50]


@pytest.mark.parametrize("secret", [one for one in SHAPES.values() if "\n" not in one])
def test_text_that_grows_shows_no_secret_at_any_moment(secret: str) -> None:
    text, shown, rest = f"one\nkey: {secret}\nPASSWORD=correct horse\nMONKEY=banana\n", "", ""
    for letter in text:
        more, rest = settled(rest + letter)
        shown += more
    assert (shown, rest) == (mask(text)[0], "")
