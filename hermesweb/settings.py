from __future__ import annotations

import hashlib
import os
import secrets
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from hermesweb.environment import env_flag, env_int, env_list, env_places, makes_state
from hermesweb.lock import running

BASE_DIR = Path(__file__).resolve().parent.parent
TESTING = "pytest" in sys.modules
MAKES_STATE = makes_state(sys.argv[1:])
LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "[::1]"]


def _data_dir() -> Path:
    path = Path(os.environ.get("HERMESWEB_DATA_DIR", "") or BASE_DIR / ".hermesweb").absolute()
    if not MAKES_STATE:
        return path
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {path} cannot be made ({error.strerror}). "
            "Name another with --data-dir or HERMESWEB_DATA_DIR."
        ) from None
    return path


def _secret_key() -> str:
    """From the environment, else from the data folder: only a local installation makes its own."""
    if key := os.environ.get("HERMESWEB_SECRET_KEY"):
        return key
    if PRODUCTION:
        raise ImproperlyConfigured(
            "HERMESWEB_HOSTS names hosts beyond this machine, so HERMESWEB_SECRET_KEY must be set: "
            'python3 -c "import secrets; print(secrets.token_urlsafe(50))" makes one.'
        )
    path = DATA_DIR / "secret_key"
    if not (MAKES_STATE or path.exists()):
        return secrets.token_urlsafe(50)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {DATA_DIR} cannot be written ({error.strerror}). "
            "Change its owner or mode, or name another with --data-dir or HERMESWEB_DATA_DIR."
        ) from None
    with open(handle, "w") as file:
        file.write(key := secrets.token_urlsafe(50))
    return key


def _database() -> dict[str, Any]:
    url = os.environ.get("DATABASE_URL", "")
    if not url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": DATA_DIR / "hermesweb.sqlite3",
            "OPTIONS": {
                # A reader never waits for a writer, and two writers queue instead of failing.
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
            },
        }
    parts = urlsplit(url)
    if parts.scheme not in ("postgres", "postgresql") or not parts.path.strip("/"):
        raise ImproperlyConfigured(
            "DATABASE_URL must read postgresql://USER:PASSWORD@HOST:PORT/NAME; "
            "leave it out for SQLite in the data folder."
        )
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.strip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "CONN_HEALTH_CHECKS": True,
    }


def _redis_url() -> str:
    """From the environment, else that of the installation which runs on this data folder."""
    here = running(DATA_DIR)
    return os.environ.get("REDIS_URL") or (here.broker if here else "")


# Core

DEBUG = env_flag("HERMESWEB_DEBUG")
PUBLIC_HOSTS = env_list("HERMESWEB_HOSTS")
ALLOWED_HOSTS = LOOPBACK_HOSTS + PUBLIC_HOSTS
PRODUCTION = bool(PUBLIC_HOSTS) and not DEBUG
DATA_DIR = _data_dir()
SECRET_KEY = "tests" if TESTING else _secret_key()
ROOT_URLCONF = "hermesweb.urls"
ASGI_APPLICATION = "hermesweb.asgi.application"

INSTALLED_APPS = [
    "hermesweb",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "django_htmx",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "hermesweb.language.PageLanguage",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "hermesweb.context_processors.csp_nonce",
            ],
        },
    },
]

# Database and cache

DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = "" if TESTING else _redis_url()
# Set by `up` where no broker is found: pages and worker then share one process.
IN_PROCESS = env_flag("HERMESWEB_IN_PROCESS")
if REDIS_URL:
    CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
    }

# Sign-in

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
if TESTING:
    PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# Security

# Browsers keep cookies by host, not by port: two installations on one host have names of their own.
# All processes of one share the secret, and a new secret signs everybody out anyway.
_installation = hashlib.sha256(f"cookies of {SECRET_KEY}".encode()).hexdigest()[:8]
SESSION_COOKIE_NAME = f"hermesweb_session_{_installation}"
CSRF_COOKIE_NAME = f"hermesweb_csrf_{_installation}"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = PRODUCTION
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PRODUCTION else None
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PRODUCTION
SECURE_REFERRER_POLICY = "same-origin"
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in PUBLIC_HOSTS]
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# Static files

STATIC_URL = "static/"
# Tests take static files from where they lie; whitenoise warns of a folder not yet collected.
STATIC_ROOT = None if TESTING else BASE_DIR / "staticfiles"
_plotly = find_spec("plotly")
assert _plotly is not None and _plotly.origin is not None
STATICFILES_DIRS: list[Any] = [
    BASE_DIR / "static",
    ("plotly", Path(_plotly.origin).parent / "package_data"),
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if TESTING or DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = TESTING or DEBUG
MEDIA_ROOT = DATA_DIR / "uploads"

# Language and time

TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SECURE = PRODUCTION

# Channels

CHANNEL_LAYERS: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL]},
    }
}
if IN_PROCESS:
    CHANNEL_LAYERS["default"] = {"BACKEND": "hermesweb.inprocess.OneLoopLayer"}
elif not REDIS_URL:
    CHANNEL_LAYERS["default"] = {"BACKEND": "channels.layers.InMemoryChannelLayer"}

# Celery

SWEEP_SECONDS = 5
SWEEP_IN_WORKER = env_flag("HERMESWEB_SWEEP_IN_WORKER")
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://") or "memory://"
# A killed worker's sessions are taken up by the sweep; the broker's own second delivery
# only has to stay out of the way of the longest session.
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 7 * 24 * 3600}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_POOL = os.environ.get("HERMESWEB_WORKER_POOL", "threads")
CELERY_WORKER_CONCURRENCY = env_int("HERMESWEB_WORKER_CONCURRENCY", 32)
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_BEAT_SCHEDULE = {"sweep": {"task": "hermesweb.tasks.sweep", "schedule": SWEEP_SECONDS}}

# What agents may reach: a folder inside one of these roots; the web, on a server only when asked

USER_WIDE_DOCS = None if PRODUCTION or TESTING else Path.home() / ".nanohermes" / "AGENTS.md"
WORKSPACES = DATA_DIR / "workspaces"
ALLOWED_ROOTS = [
    WORKSPACES,
    *(Path(root) for root in env_list("HERMESWEB_ALLOWED_ROOTS", os.pathsep) or [os.getcwd()]),
]
WEB_TOOLS = env_flag("HERMESWEB_WEB_TOOLS", not (PRODUCTION or TESTING))
SEARCH_URL = os.environ.get("HERMESWEB_SEARCH_URL", "")
# Inside addresses, each HOST:PORT, that webhooks may be sent to beside public ones.
WEBHOOK_HOSTS = env_places("HERMESWEB_WEBHOOK_HOSTS")
# Of the explorer's replies, so that a person can watch and steer it.
EXPLORER_PACE_MS = env_int("HERMESWEB_EXPLORER_PACE_MS", 0 if TESTING else 1_000)

# Logging

# A line for each request of a model client and for each sweep would bury the others.
QUIET = ("httpx2", "celery.worker.strategy", "celery.app.trace")
LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "hermesweb.logs.MaskedLine", "format": LINE}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    # Uvicorn's own handlers would write what it says without masking.
    "loggers": dict.fromkeys(QUIET, {"level": "WARNING"}) | {"uvicorn": {"propagate": True}},
}
