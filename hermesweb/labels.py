"""How the values of closed lists are called on a page; rows, JSON and the DOM keep their spelling.

A value stands here in the spelling of its enum, with spaces for underscores.
"""

from __future__ import annotations

import re

from django.utils.functional import lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

NAMES: dict[str, tuple[str, ...]] = {
    "categories of a breakdown": (
        *(_("system prompt"), _("project docs"), _("project context"), _("skills")),
        *(_("tool schemas"), _("memory"), _("summary"), _("user"), _("assistant")),
        *(_("thinking"), _("tool calls"), _("images"), _("tool results")),
    ),
    "roles": (_("system"), _("developer"), _("tool")),
    "sections of a system message": (_("built in"), _("mode"), _("persona")),
    "fates and origins": (
        *(_("kept"), _("pinned"), _("snipped"), _("masked"), _("cut"), _("folded")),
        *(_("summarized"), _("dropped"), _("excluded"), _("repaired"), _("rebuilt")),
        *(_("note"), _("injected"), _("restored"), _("appended")),
    ),
    "kinds of a fact or an entry": (
        *(_("goal"), _("constraint"), _("preference"), _("decision"), _("changed path")),
        *(_("read path"), _("command"), _("number"), _("warning"), _("failure"), _("state")),
        _("fact"),
    ),
    "checks of a compaction": (
        *(_("history legal"), _("cut legal"), _("summary present"), _("budget holds")),
        *(_("recent intact"), _("goal known"), _("paths known")),
    ),
    "what started a compaction": (
        *(_("threshold"), _("hybrid"), _("overflow"), _("run end"), _("manual"), _("hook")),
        _("recorded"),
    ),
    "states of a compaction": (_("applied"), _("noop"), _("undone")),
    "strategies": (
        *(_("keep recent"), _("snip"), _("micro"), _("collapse"), _("auto"), _("partial")),
        *(_("last resort"), _("mask"), _("elastic"), _("share"), _("fair share")),
    ),
    "status of a session": (
        *(_("idle"), _("queued"), _("running"), _("compacting"), _("waiting"), _("stopping")),
        *(_("blocked"), _("failed"), _("following"), _("archived")),
    ),
    "kinds of a session": (_("run"), _("imported"), _("followed"), _("fed"), _("gateway")),
    "ends of a run": (_("answered"), _("stopped"), _("limit")),
    "groups and orders of the wall": (
        *(_("live"), _("needs you"), _("done"), _("soonest"), _("fullest"), _("newest")),
        _("title"),
    ),
    "ways to add up": (_("path"),),
    "units": (_("bytes"), _("chars"), _("tokens")),
    "where a number is from": (
        *(_("profile"), _("model table"), _("assumed"), _("contradicted")),
        *(_("provider"), _("exact"), _("estimate"), _("measured")),
    ),
    "why a prefix broke": (
        *(_("schemas"), _("prompt"), _("compaction"), _("pin"), _("edit"), _("model")),
    ),
    "instructions": (
        *(_("message"), _("approval"), _("compact"), _("undo"), _("restore"), _("exclude")),
        *(_("new topic"), _("erase"), _("taken"), _("withdrawn")),
    ),
    "events": (
        *(_("session created"), _("forked"), _("renamed"), _("shared"), _("profile changed")),
        *(_("run started"), _("run ended"), _("turn ended"), _("request retried")),
        *(_("stop requested"), _("recovered"), _("over budget"), _("limit reached")),
        *(_("instruction queued"), _("instruction edited"), _("instruction withdrawn")),
        *(_("approval wanted"), _("approval given"), _("message added"), _("system rebuilt")),
        *(_("memory injected"), _("erased"), _("tool started"), _("tool ended")),
        *(_("unpinned"), _("checkpoint set"), _("topic started"), _("resumed")),
        *(_("compaction started"), _("compaction ended"), _("compaction failed")),
    ),
    "problems of a recording": (
        *(_("bad line"), _("torn tail"), _("glued records"), _("repeated record")),
        *(_("bad message"), _("no summary"), _("orphan result"), _("unanswered call")),
        _("duplicate result"),
    ),
    "choices of a profile": (
        *(_("on"), _("ask"), _("off"), _("keep"), _("ledger"), _("calls")),
        *(_("content only"), _("rolling"), _("archive"), _("from"), _("up to")),
        *(_("general"), _("specific"), _("plan"), _("debug")),
    ),
    "occasions and deliveries": (
        *(_("near threshold"), _("compacted"), _("thrash"), _("breaker open"), _("delivered")),
        _("test"),
    ),
    "values of a profile": (
        *(_("above"), _("approvals"), _("automatic"), _("assumed window"), _("background bytes")),
        *(_("background tasks"), _("budget"), _("buffer"), _("ceilings"), _("hooks")),
        *(_("command memory bytes"), _("command processes"), _("command seconds")),
        *(_("compact at run end"), _("cost"), _("counts schemas"), _("direction")),
        *(_("doc names"), _("documents"), _("file bytes"), _("glob files"), _("grep hits")),
        *(_("grep line chars"), _("input"), _("input tokens"), _("keep last"), _("limits")),
        *(_("listed names"), _("memory chars"), _("memory entries"), _("memory entry chars")),
        *(_("memory stored"), _("min gain"), _("minutes"), _("near"), _("on failure")),
        *(_("output tokens"), _("picture bytes"), _("pins first user"), _("project docs bytes")),
        *(_("project docs keep"), _("read lines"), _("recall"), _("recall hit chars")),
        *(_("recall hits"), _("reserve"), _("result bytes"), _("result share")),
        *(_("searched file bytes"), _("seconds"), _("skill chars"), _("source"), _("stages")),
        *(_("strategy"), _("stream bytes"), _("target"), _("thresholds"), _("to target")),
        *(_("turns"), _("unit"), _("web body bytes"), _("web hit chars"), _("web hits")),
        *(_("web seconds"), _("web text chars"), _("window"), _("words")),
    ),
    "tables and columns of the administration": (
        *(_("action"), _("active"), _("agent session"), _("agent sessions"), _("at")),
        *(_("attempts"), _("audit entries"), _("audit entry"), _("base url"), _("by")),
        *(_("cache read price"), _("cache write price"), _("chain"), _("changed")),
        *(_("changed at"), _("compactions"), _("created at"), _("deliveries"), _("delivery")),
        *(_("detail"), _("ended at"), _("hash"), _("holder"), _("id"), _("input price")),
        *(_("key"), _("key variable"), _("kind"), _("messages alive"), _("model endpoint")),
        *(_("model endpoints"), _("name"), _("new"), _("occasion"), _("occasions")),
        *(_("old"), _("output price"), _("owner"), _("page"), _("place"), _("profile version")),
        *(_("profile versions"), _("profiles"), _("run reason"), _("secret"), _("secret variable")),
        *(_("session"), _("status"), _("tier"), _("url"), _("used"), _("values"), _("version")),
        *(_("versions"), _("webhook"), _("webhooks"), _("who"), _("workspace")),
    ),
}


def words(name: str) -> str:
    """`turn_ended` -> `turn ended`, in the reader's language where the word is known."""
    return gettext(name.replace("_", " ")) if name else ""


def unit_word(unit: str) -> str:
    """`tok` for tokens: numbers keep the form of their units in every language."""
    return "tok" if unit == "tokens" else unit


def sentence(text: str) -> str:
    """Words that stand inside a line, as a line of their own; an address stays as it is."""
    first = text[:1] if re.match(r"\w+://", text) else text[:1].upper()
    return gettext("%(text)s.") % {"text": f"{first}{text[1:]}"}


# For what is named when a module is loaded and read later, in who knows which language.
words_lazy = lazy(words, str)
