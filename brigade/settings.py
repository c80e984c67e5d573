"""Settings, all of them from the environment, with defaults that run on one machine.

| variable | meaning | default |
|---|---|---|
| `BRIGADE_SECRET_KEY` | signs sessions and links | made once, in `var/secret.key` |
| `BRIGADE_DEBUG` | Django's debug pages | false |
| `BRIGADE_HOSTS` | names under which this server answers, with commas | localhost, 127.0.0.1, [::1] |
| `BRIGADE_URL` | the address that participants see | http://localhost:8000 |
| `BRIGADE_VAR` | where everything is written | `var/` |
| `DATABASE_URL` | `postgres://…` or `sqlite:///…` | SQLite in `var/` |
| `REDIS_URL` | `redis://…` or `unix://…` | the Valkey that `make run` starts |
| `BRIGADE_DECISION_SECONDS` | time for the co-players of one step before the fallback | 30 |
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from brigade import places

env = environ.Env()


def _read(name: str, reader: Any, default: Any) -> Any:
    """A variable in its type; ImproperlyConfigured names it if it has another."""
    try:
        return reader(name, default=default)
    except (ValueError, TypeError) as error:
        raise ImproperlyConfigured(f"{name}: {error}") from error


def _decision_seconds() -> float:
    found: float = _read("BRIGADE_DECISION_SECONDS", env.float, 30.0)
    if not 0 < found <= 600:
        raise ImproperlyConfigured(f"BRIGADE_DECISION_SECONDS: {found:g} is not between 0 and 600")
    return found


def _public_url() -> str:
    found: str = env.str("BRIGADE_URL", default="http://localhost:8000").rstrip("/")
    if urlsplit(found).scheme not in {"http", "https"} or not urlsplit(found).hostname:
        raise ImproperlyConfigured(f"BRIGADE_URL: {found!r} is not an address with http:// or https://")
    return found


def _database() -> dict[str, Any]:
    """SQLite with a write-ahead log, or PostgreSQL with connections that are kept and checked."""
    try:
        found: dict[str, Any] = env.db("DATABASE_URL", default=f"sqlite:///{places.database_file()}")
    except (ValueError, KeyError, ImproperlyConfigured) as error:
        raise ImproperlyConfigured(f"DATABASE_URL: {error}") from error
    if found.get("ENGINE") == "django.db.backends.sqlite3":
        found["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 5,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
        found["TEST"] = {"NAME": f"{found['NAME']}.test"}
        return {**found, "CONN_MAX_AGE": None}
    if found.get("ENGINE") != "django.db.backends.postgresql":
        raise ImproperlyConfigured("DATABASE_URL: only sqlite:/// and postgres:// are supported")
    return {**found, "CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}


BASE_DIR: Path = places.base_dir()
VAR_DIR: Path = places.make_var_dir()
SECRET_KEY: str = places.secret_key()
DEBUG: bool = _read("BRIGADE_DEBUG", env.bool, False)
ALLOWED_HOSTS: list[str] = env.list("BRIGADE_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
PUBLIC_URL: str = _public_url()
REDIS_URL: str = places.redis_url()
DECISION_SECONDS: float = _decision_seconds()

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "django_htmx",
    "kitchen",
    "study",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "brigade.urls"
ASGI_APPLICATION = "brigade.asgi.application"

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
            ]
        },
    }
]

DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": None}], "prefix": "brigade"},
    }
}

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "brigade",
    }
}

CELERY_BROKER_URL = places.broker_url(REDIS_URL)
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": int(DECISION_SECONDS * 4) + 60,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 2,
    "max_retries": 1,
    "interval_start": 0,
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "admin:login"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PUBLIC_URL.startswith("https://") else None
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PUBLIC_URL.startswith("https://")
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "fontTools": {"level": "WARNING"},  # at INFO it logs every glyph of a PDF
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},  # at INFO it logs every address, secret links among them
    },
}
