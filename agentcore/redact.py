"""The program's own keys, replaced where they are captured; secrets of any kind, masked at the
edges. What is masked holds no quote and no half of an escape, so JSON stays JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

WITHHELD = "[key withheld]"
MASKED = "[masked]"
# A shorter value is no key, and replacing it would tear ordinary text.
KEY_CHARS = 8
# What is looked at behind the end of what is shown, and how much of it may be half a secret.
AHEAD_CHARS, HALF_CHARS = 4_000, 1_000

_W = r"[A-Za-z0-9_-]"
# What issuers of keys let theirs begin with.
_SHAPES = (
    rf"sk-(?:ant-|proj-|svcacct-|or-v1-|lf-)?{_W}{{20,}}",
    r"[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"whsec_[A-Za-z0-9+/]{24,}",
    r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}",
    r"gh[pousr]_[A-Za-z0-9]{30,}",
    r"github_pat_[A-Za-z0-9_]{40,}",
    rf"gl(?:pat|ptt|dt|rt|cbt|ft)-{_W}{{18,}}",
    rf"glsa_{_W}{{30,}}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"xapp-[0-9]-[A-Za-z0-9-]{10,}",
    r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    rf"discord(?:app)?\.com/api/webhooks/[0-9]+/{_W}{{20,}}",
    rf"[MNO]{_W}{{23,25}}\.{_W}{{6}}\.{_W}{{27,}}",
    rf"AIza{_W}{{35}}",
    rf"GOCSPX-{_W}{{20,}}",
    rf"ya29\.{_W}{{20,}}",
    r"npm_[A-Za-z0-9]{36}",
    rf"pypi-AgE{_W}{{40,}}",
    rf"SG\.{_W}{{16,}}\.{_W}{{16,}}",
    r"SK[0-9a-f]{32}",
    r"key-[0-9a-f]{32}",
    rf"[0-9]{{8,10}}:AA{_W}{{33}}",
    r"hf_[A-Za-z0-9]{30,}",
    r"do[opr]_v1_[0-9a-f]{64}",
    r"dapi[0-9a-f]{32}",
    r"shp(?:at|ca|pa|ss)_[0-9a-f]{32}",
    rf"sq0(?:atp|csp)-{_W}{{22,}}",
    r"lin_api_[A-Za-z0-9]{32,}",
    r"ntn_[A-Za-z0-9]{40,}",
    r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
    rf"hv[sbr]\.{_W}{{24,}}",
    r"dp\.(?:pt|st|ct|scim|audit)\.[A-Za-z0-9]{40,}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{50,}",
    rf"(?:gsk|nvapi|pplx|tvly|xai)[_-]{_W}{{30,}}",
    rf"eyJ{_W}{{8,}}\.eyJ{_W}{{8,}}\.{_W}{{8,}}",
)
_SHAPE = re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join(_SHAPES)})")

# A key that is cut has no last line; in JSON a line end is a backslash and a letter.
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----(?:[A-Za-z0-9+/=:,. \r\n]|\\+[nr]|(?!-----END)-)*"
    r"(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----)?"
)
_OPENED = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----(?:(?!-----END).)*\Z", re.DOTALL)
_URL = re.compile(r"(://[^\s/:@\"'`\\<>]*:)([^\s/:@\"'`\\<>${}*]{3,})(?=@)")
_HEADER = re.compile(rf"((?:[Bb]earer|[Bb]asic) )({_W}[A-Za-z0-9_.~+/=-]{{15,}})")


def _cased(names: str) -> str:
    """An alternation in the cases that are in use; `-` stands for what may join words. Spelt out,
    the search skips by first letters, which it does not where case is ignored."""
    cases = (str.lower, str.upper, str.title, lambda name: name[0] + name.title()[1:])
    forms = [form(name) for name in names.split() for form in cases]
    return "|".join(form.replace("-", "[_-]?") for form in dict.fromkeys(forms))


_WORDS = _cased(
    "password passwd passphrase pwd secret credential credentials token api-key access-key "
    "account-key auth-key private-key secret-key session-key signing-key encryption-key "
    "master-key license-key shared-access-signature"
)
# As `env` and .env files have it: the value goes to the end of its line.
_ASSIGNED = re.compile(
    r"((?:PASS|PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIALS?|_KEY|APIKEY)"
    r"(?:_ID|_BASE64)?=(?:\\*[\"'])?)([^\s\"'\\$<({\[%][^\r\n\"'\\]{3,})"
)
_NAMED = re.compile(
    rf"((?:{_WORDS})(?:[_-]?[Ii][Dd])?(?:\\*[\"'])?(?:\s?[:=]|=>|[ ])\s?(?:\\*[\"'])?)"
    r"([^\s\"'`\\;,&<>(){}\[\]$*|%]{6,})(?=[\s\"'`\\;,&]|\Z)"
)
_SIGNED = re.compile(
    r"([?&](?:sig|signature|key|token|auth|X-Amz-Signature)=)([A-Za-z0-9%+/_=-]{16,})"
)

_SECRETS = (_PEM, _SHAPE, _URL, _HEADER, _SIGNED, _ASSIGNED, _NAMED)
_PLACEHOLDER = re.compile(
    r"(?i)[x.*_-]+|(?:your|my|some|example|changeme|placeholder|test)[\w-]*|/.*"
)


def without_keys(text: str, keys: Iterable[str]) -> str:
    """The text with each of these exact values replaced; a value under 8 characters is none."""
    for key in keys:
        if len(key) >= KEY_CHARS:
            text = text.replace(key, WITHHELD)
    return text


def mask(text: str) -> tuple[str, int]:
    """The text with its secrets masked, and how many. Takes plain text, and JSON, which stays
    valid. Secrets are known by their shapes and by what stands before them."""
    count = 0

    def masked(found: re.Match[str]) -> str:
        nonlocal count
        before, value = found.groups() if found.re.groups else ("", found[0])
        if MASKED in value or (found.re is _NAMED and not _is_value(before, value)):
            return found[0]
        count += 1
        return before + MASKED

    for pattern in _SECRETS:
        text = pattern.sub(masked, text)
    return text, count


def masked_start(text: str, chars: int) -> str:
    """The first `chars` of the text with its secrets masked, also one that is cut in two there."""
    window = text[: chars + AHEAD_CHARS]
    masked, _ = mask(window)
    return (masked if len(window) == len(text) else masked[:-HALF_CHARS])[:chars]


def whole_start(text: str, chars: int) -> str:
    """The first `chars` of the text, or less, so that what is cut off there is no half of a secret:
    a half may not be known for one where it is masked later."""
    found = [one for pattern in _SECRETS for one in pattern.finditer(text[: chars + AHEAD_CHARS])]
    # The value is the last group, or the whole of a match without groups.
    values = [one.span(one.re.groups) for one in found]
    while cut := [start for start, end in values if start < chars < end]:
        chars = min(cut)
    return text[:chars]


def settled(text: str) -> tuple[str, str]:
    """Of a text that still grows: its whole lines, masked, and the rest, which what is to come may
    turn into a secret."""
    end = text.rfind("\n") + 1
    opened = _OPENED.search(text)
    end = min(end, opened.start()) if opened else end
    return mask(text[:end])[0], text[end:]


def _is_value(before: str, value: str) -> bool:
    """Whether what follows a telling name is a secret, not a variable, a type or a word."""
    if _PLACEHOLDER.fullmatch(value):
        return False
    has_digit = any(letter.isdigit() for letter in value)
    if before.endswith(" ") and not before.rstrip().endswith((":", "=")):
        # An option of a command, `--password VALUE`, or a word in a sentence.
        return has_digit and "." not in value[:-1]
    if before.endswith(("'", '"')):
        return has_digit or "pass" in before.lower() or "pwd" in before.lower()
    return has_digit and not value.isdigit()
