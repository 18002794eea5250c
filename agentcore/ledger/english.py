"""The words that English facts are known by; lower case, whole words."""

from __future__ import annotations

CONSTRAINT = (
    "must",
    "mustn't",
    "never",
    "always",
    "only",
    "do not",
    "don't",
    "dont",
    "cannot",
    "can't",
    "should not",
    "shouldn't",
    "may not",
    "not allowed",
    "no longer",
    "no more than",
    "not more than",
    "at most",
    "at least",
    "up to",
    "under",
    "below",
    "within",
    "less than",
    "fewer than",
    "not exceed",
    "maximum",
    "max",
    "minimum",
    "min",
    "limit",
    "limited",
    "cap",
    "capped",
    "deadline",
    "due",
    "by",
    "before",
    "until",
    "required",
    "require",
    "forbidden",
    "off limits",
    "hands off",
    "make sure",
    "ensure",
    "without",
    "avoid",
    "refuse",
    "under no circumstances",
    "from now on",
    "stay away",
    "ask me before",
    "ask before",
    "ask first",
    "ask me first",
    "confirm with me",
    "my approval",
    "refrain",
    "read-only",
    "read only",
    "has to be",
    "have to be",
    "needs to be",
    "you may",
    "it is fine to",
    "it's fine to",
    "is allowed",
)
# What sounds like a rule and is none.
NO_RULE = (
    *("no problem", "no idea", "no worries", "no need", "no luck"),
    *("i can't", "i cannot", "i must", "we can't", "not only", "if only", "can't we"),
)
# These mean a limit or a date only with a number, a day or a month behind them.
NEED_VALUE = frozenset(
    {
        *("under", "below", "within", "up to", "less than", "fewer than", "by", "before", "until"),
        *("max", "min", "due", "cap", "capped", "limit", "limited", "maximum", "minimum"),
    }
)
UPPER = frozenset(
    {
        *("no more than", "not more than", "at most", "up to", "under", "below", "within"),
        *("less than", "fewer than", "not exceed", "maximum", "max", "limit", "limited"),
        *("cap", "capped"),
    }
)
LOWER = frozenset({"at least", "minimum", "min"})
DATED = frozenset({"deadline", "due", "by", "before", "until"})

PREFERENCE = (
    "prefer",
    "preferably",
    "i like",
    "i'd like",
    "i would like",
    "i'd rather",
    "ideally",
    "please use",
    "should be",
    "should use",
    "answer in",
    "reply in",
    "respond in",
    "write in",
    "favour",
    "favor",
    "stick to",
    "stick with",
)
# At the beginning of a sentence only; the first are wishes, the others rules.
WISHES_IN_FRONT = ("use", "keep", "leave")
RULES_IN_FRONT = ("no",)

DECISION = (
    "decide",
    "decided",
    "decision",
    "chose",
    "choose",
    "chosen",
    "going with",
    "go with",
    "opted for",
    "settled on",
    "picked",
    "rejected",
    "ruled out",
    "agreed",
    "i'll use",
    "we'll use",
    "i will use",
    "we will use",
    "let's use",
    "switched to",
    "switch to",
    "abandon",
    "abandoned",
    "plan a",
    "plan b",
    "plan c",
    "option a",
    "option b",
)

STATE = (
    "todo",
    "to do",
    "next step",
    "next steps",
    "next i",
    "next, i",
    "remaining",
    "remains",
    "still need",
    "still needs",
    "left to do",
    "so far",
    "in progress",
    "completed",
    "finished",
    "is done",
    "are done",
    "all done",
    "pending",
    "blocked",
    "works now",
    "passes now",
    "now passes",
    "pass now",
    "is complete",
    "has been",
    "have been",
)

REVISION = (
    "now",
    "instead",
    "actually",
    "change",
    "changed",
    "from now on",
    "no longer",
    "update",
    "correction",
    "on second thought",
    "raise",
    "lower",
    "reduce",
    "increase",
    "keep it",
    "make it",
    "make that",
    "rather",
    "rather than",
    "not anymore",
    "switch to",
    "switched to",
    "drop",
    "instead of",
    "you may",
    "is allowed",
    "it is fine to",
    "it's fine to",
)
NEW_GOAL = (
    "new goal",
    "new task",
    "different task",
    "change of plan",
    "change of plans",
    "forget that",
    "forget about",
    "scratch that",
    "new topic",
    "switch to",
    "stop that",
    "the goal is now",
    "goal has changed",
)

# What says that an answer was heard, and nothing else.
_ACKNOWLEDGEMENTS = """ok okay yes yep yeah no sure fine good great thanks thank you please continue
    go on ahead proceed done nice perfect right correct it do so and next hi hello hey stop
    retry again"""
ACKNOWLEDGEMENTS = frozenset(_ACKNOWLEDGEMENTS.split())

_STOP = """a about after again all also am an and any are as at be been being but by can could did
    do does doing done for from had has have having he her here him his how i if in into is it its
    just keep let like make may me might more most must my need needs never no not now of off on
    once one only or other our out over own please put same set shall she should so some such take
    than that the their them then there these they thing things this those through to too try under
    until up us use used using very want was we were what when where which while who why will with
    would you your yours always don't dont cannot can't won't it's i'm i'll we'll let's max maximum
    min minimum limit limited limits cap capped most least below within less fewer exceed deadline
    due before change changed update updated instead actually rather prefer preferably ensure sure
    monday tuesday wednesday thursday friday saturday sunday
    january february march april june july august september october november december because
    decide decided decision avoid without required require forbidden allowed longer raise lower
    reduce increase new it'd i'd that's get got go going went way still ever each every"""
STOP = frozenset(_STOP.split())
UNITS = (
    *("milliseconds", "millisecond", "ms", "seconds", "second", "secs", "sec", "s"),
    *("minutes", "minute", "mins", "min", "hours", "hour", "hrs", "h", "days", "day", "weeks"),
    *("week", "months", "month", "years", "year", "kib", "mib", "gib", "kb", "mb", "gb", "tb"),
    *("bytes", "byte", "b", "k", "m", "%", "percent", "usd", "eur", "gbp", "dollars", "euros"),
    *("words", "word", "lines", "line", "tokens", "token", "chars", "characters", "pages", "px"),
    *("requests", "request", "rps", "qps", "rpm", "users", "rows", "items", "files", "times"),
    *("people", "retries", "attempts", "columns", "spaces", "cores", "threads", "workers", "hz"),
    *("passed", "failed", "errors", "warnings", "tests", "calls", "messages", "commits", "x"),
)
# One thing a person chooses among: who names another one later has changed the choice.
FAMILIES = {
    "@language": "english chinese german french spanish japanese korean russian italian mandarin",
    "@indent": "tab tabs space spaces",
    "@quotes": "single-quotes double-quotes",
    "@package-manager": "npm yarn pnpm bun",
    "@case": "snake_case camelcase kebab-case pascalcase",
}
# What begins a rule of its own, where a line begins with it.
RULE_BEGINS = (
    *("never", "always", "do not", "don't", "dont", "please", "make sure", "ensure", "avoid"),
    *WISHES_IN_FRONT,
    *RULES_IN_FRONT,
)
_GOES_ON = """a an and are as at because below between by for from if into is its must my nor not of
    or our than the their to under unless via with within without your"""
# What no sentence ends with.
GOES_ON = frozenset(_GOES_ON.split())
# The same, where they begin it.
GO_ON_IN_FRONT = frozenset({"please", *WISHES_IN_FRONT})
