"""Settings, all of them from the environment, with defaults that run on one machine.

| variable | meaning | default |
|---|---|---|
| `BRIGADE_SECRET_KEY` | signs sessions and links; 50 characters or more | made once, in `var/secret.key` |
| `BRIGADE_DEBUG` | Django's debug pages: true or false | false |
| `BRIGADE_HOSTS` | our host names besides that in `BRIGADE_URL`, with commas | localhost, 127.0.0.1, [::1] |
| `BRIGADE_URL` | the address that participants see, without a path | http://localhost:8000 |
| `BRIGADE_TRUSTED_PROXIES` | proxies whose `X-Forwarded-For` is believed, with commas | 127.0.0.1, ::1 |
| `BRIGADE_SECOND_FACTOR` | second factor of staff: `optional`, or `required` of all | optional |
| `BRIGADE_STAFF_IDLE_MINUTES` | minutes without a page after which staff are logged out | 120 |
| `BRIGADE_KEEP_NAMES_DAYS` | days until `retention` erases names and free texts of people | for ever |
| `BRIGADE_KEEP_DAYS` | days until it erases all data of people | for ever |
| `BRIGADE_KEEP_EVENTS_DAYS` | days until it erases the records about staff | for ever |
| `BRIGADE_VAR` | where everything is written | `var/` |
| `DATABASE_URL` | `postgres://…` or `sqlite:///…` | SQLite in `var/` |
| `REDIS_URL` | `redis://…`, `rediss://…` or `unix://…` | the Valkey that `make run` starts |
| `BRIGADE_PREFIX` | prefix of queues, channels and cache; separates installations on one Redis | brigade |
| `BRIGADE_WORLDS` | worlds besides the built-in ones, as `name=package.module:KIT`, with commas | none |
| `BRIGADE_LOG` | `text`, lines for people, or `json`, a line of JSON for each entry | text |
| `BRIGADE_METRICS_TOKEN` | bearer token with which other machines may read `/metrics` | nobody |
| `BRIGADE_PROLIFIC_KEYS` | keys of Prolific's signed links: an https address, or a file | Prolific's |
| `BRIGADE_DECISION_SECONDS` | time for the co-players of one step before the fallback | 30 |
| `BRIGADE_SYNTHETIC_SPEED` | factor by which a clock is faster for programs than for people | 5 |
| `BRIGADE_WEB` | web processes on this machine | as many as cores, 8 at most |
| `BRIGADE_TICKERS` | processes that take timed steps on this machine | as many as cores, 2 to 8 |
| `BRIGADE_PLANNERS` | processes in which co-players decide, per web process | cores per web process |

An empty variable counts as unset. A wrong one raises an ImproperlyConfigured or a PathError, in one line.
"""

from __future__ import annotations

import os
import re
import warnings
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from brigade import paths
from brigade.connection_limits import LARGEST_BODY
from brigade.listen_address import last_instance_url
from brigade.paths import make_private_and_warn
from kitchen.infra.os_processes import planner_processes, web_processes
from kitchen.registry.world_registry import world_folders

HOST = re.compile(r"\.?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
"""A host name of ours; with a dot before it, all names below it as well."""
LOCK_SECONDS = 5
"""Seconds that a request waits for a locked or silent database before it gets an error page."""
PROLIFIC_KEYS_AT = "https://api.prolific.com/.well-known/study/jwks.json"
TRUE, FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


def _given(name: str, default: str) -> str:
    """Return a variable, or the default if it is empty or not set."""
    return os.environ.get(name, "").strip() or default


def _flag(name: str) -> bool:
    flag = _given(name, "false").lower()
    if flag not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{name}: {flag!r} is neither true nor false")
    return flag in TRUE


def _decision_seconds() -> float:
    try:
        seconds = float(_given("BRIGADE_DECISION_SECONDS", "30"))
    except ValueError as error:
        raise ImproperlyConfigured(f"BRIGADE_DECISION_SECONDS: {error}") from error
    if not 0 < seconds <= 600:
        raise ImproperlyConfigured(f"BRIGADE_DECISION_SECONDS: {seconds:g} is not between 0 and 600")
    return seconds


def _synthetic_speed() -> float:
    try:
        speed = float(_given("BRIGADE_SYNTHETIC_SPEED", "5"))
    except ValueError as error:
        raise ImproperlyConfigured(f"BRIGADE_SYNTHETIC_SPEED: {error}") from error
    if not 1 <= speed <= 100:
        raise ImproperlyConfigured(f"BRIGADE_SYNTHETIC_SPEED: {speed:g} is not between 1 and 100")
    return speed


def _check_processes() -> None:
    """Check the numbers of processes, which are read later, without settings, when processes start."""
    try:
        web_processes(), planner_processes()
    except ValueError as error:
        raise ImproperlyConfigured(str(error)) from error


def _check_models() -> None:
    """Check the files about language models, which are read later, at the first call."""
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        if (given := _given(name, "")) and not _is_address(given):
            raise ImproperlyConfigured(f"{name}: an address with http:// or https:// is wanted")
    if _given("BRIGADE_PRICES", ""):
        from kitchen.llm.call_costs import PriceFileError, load_prices  # 0.3 s, and few need it

        try:
            load_prices()
        except PriceFileError as error:
            raise ImproperlyConfigured(f"BRIGADE_PRICES: {error}") from error
    if _given("BRIGADE_MODELS", ""):
        from kitchen.llm.model_capabilities import ModelListError, load_model_list  # likewise slow

        try:
            load_model_list()
        except ModelListError as error:
            raise ImproperlyConfigured(f"BRIGADE_MODELS: {error}") from error


def _prolific_keys() -> str:
    """Return the place of Prolific's signing keys. A file is checked now, an address when it is needed."""
    given = _given("BRIGADE_PROLIFIC_KEYS", PROLIFIC_KEYS_AT)
    if given.startswith("https://") and _is_address(given):
        return given
    from kitchen.infra.rsa_public_keys import KeysError, read_keys  # 0.1 s, and few need it

    try:
        read_keys(Path(given).read_text())
    except (OSError, UnicodeDecodeError, KeysError) as error:
        raise ImproperlyConfigured(f"BRIGADE_PROLIFIC_KEYS: {given!r}: {error}") from error
    return str(Path(given).absolute())


def _is_address(url: str) -> bool:
    try:
        return _is_web(urlsplit(url))
    except ValueError:  # unclosed brackets, a port that is not a number
        return False


def _public_url() -> str:
    url = _given("BRIGADE_URL", "http://localhost:8000").rstrip("/")
    try:
        wrong = _wrong_in_url(urlsplit(url))
    except ValueError as error:  # unclosed brackets, a port that is not a number
        wrong = str(error)
    if wrong:
        raise ImproperlyConfigured(f"BRIGADE_URL: {url!r}: {wrong}")
    return url


def _is_web(parts: SplitResult) -> bool:
    """Return whether it is the address of a web server. ValueError."""
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0


def _wrong_in_url(parts: SplitResult) -> str:
    """Return why this address cannot be ours; empty for a good one. ValueError."""
    if not _is_web(parts):
        return "is not an address with http:// or https://"
    if parts.path or parts.query or parts.fragment or parts.username is not None:
        return "only http:// or https://, a host and a port are wanted, no path"
    return ""


def _hosts(url: str) -> list[str]:
    """Return our host names, always including that of our own address."""
    listed = [name.strip() for name in os.environ.get("BRIGADE_HOSTS", "").split(",")]
    given = [name for name in listed if name] or ["localhost", "127.0.0.1", "[::1]"]
    if wrong := [name for name in given if not HOST.fullmatch(name)]:
        raise ImproperlyConfigured(f"BRIGADE_HOSTS: {wrong[0]!r} is no name of a host")
    own = urlsplit(url).hostname or ""
    return list(dict.fromkeys([*given, f"[{own}]" if ":" in own else own]))


def _trusted_proxies() -> list[IPv4Network | IPv6Network]:
    given = _given("BRIGADE_TRUSTED_PROXIES", "127.0.0.1, ::1")
    try:
        return [ip_network(said.strip()) for said in given.split(",") if said.strip()]
    except ValueError as error:
        raise ImproperlyConfigured(f"BRIGADE_TRUSTED_PROXIES: {error}") from error


def _second_factor_required() -> bool:
    wanted = _given("BRIGADE_SECOND_FACTOR", "optional").lower()
    if wanted not in {"optional", "required"}:
        raise ImproperlyConfigured(f"BRIGADE_SECOND_FACTOR: {wanted!r} is neither optional nor required")
    return wanted == "required"


def _staff_idle_minutes() -> int:
    minutes = _given("BRIGADE_STAFF_IDLE_MINUTES", "120")
    if not re.fullmatch(r"[0-9]{1,5}", minutes) or not 1 <= int(minutes) <= 20160:
        raise ImproperlyConfigured(f"BRIGADE_STAFF_IDLE_MINUTES: {minutes!r} is not between 1 and 20160")
    return int(minutes)


def _days(name: str) -> int | None:
    """Return the number of days for which something is kept; None for ever."""
    days = _given(name, "")
    if days and (not re.fullmatch(r"[0-9]{1,5}", days) or int(days) < 1):
        raise ImproperlyConfigured(f"{name}: {days!r} is not between 1 and 99999")
    return int(days) if days else None


def _log_form() -> str:
    form = _given("BRIGADE_LOG", "text").lower()
    if form not in {"text", "json"}:
        raise ImproperlyConfigured(f"BRIGADE_LOG: {form!r} is neither text nor json")
    return form


def _metrics_token() -> str:
    token = _given("BRIGADE_METRICS_TOKEN", "")
    if token and not re.fullmatch(r"[!-~]{20,200}", token):
        raise ImproperlyConfigured("BRIGADE_METRICS_TOKEN: 20 to 200 characters without spaces are wanted")
    return token


def _prefix() -> str:
    prefix = _given("BRIGADE_PREFIX", "brigade")
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,40}", prefix):
        raise ImproperlyConfigured(f"BRIGADE_PREFIX: {prefix!r}: up to 40 of A-Z a-z 0-9 _ . - are wanted")
    return prefix


def _database() -> dict[str, Any]:
    """Return SQLite with a write-ahead log, or PostgreSQL with persistent, checked connections."""
    database = _named_database()
    if database.get("ENGINE") == "django.db.backends.sqlite3":
        database["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": LOCK_SECONDS,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON;",
        }
        database["TEST"] = {"NAME": f"{database['NAME']}.test"}
        return {**database, "CONN_MAX_AGE": None}
    if database.get("ENGINE") != "django.db.backends.postgresql":
        raise ImproperlyConfigured("DATABASE_URL: only sqlite:/// and postgres:// are supported")
    options = {"connect_timeout": LOCK_SECONDS, **database.get("OPTIONS", {})}
    options["options"] = f"-c lock_timeout={LOCK_SECONDS}s {options.get('options', '')}".strip()
    return {**database, "CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True, "OPTIONS": options}


def _named_database() -> dict[str, Any]:
    """Return the database of `DATABASE_URL`. The path of a SQLite file is used unchanged: in a URL, `#`, `?`
    and `%` would have a meaning."""
    given = _given("DATABASE_URL", "")
    if not given:
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": str(paths.database_file())}
    try:
        with warnings.catch_warnings(action="ignore"):  # we report unknown schemes ourselves, below
            database: dict[str, Any] = environ.Env.db_url_config(given)
    except (ValueError, KeyError, ImproperlyConfigured) as error:
        raise ImproperlyConfigured(f"DATABASE_URL: {error}") from error
    return database


def _sqlite_file() -> str | None:
    """Return the file of a SQLite database; None for other databases."""
    database = _named_database()
    return str(database["NAME"]) if database.get("ENGINE") == "django.db.backends.sqlite3" else None


def _folders_of_worlds(name: str) -> list[Path]:
    """Return the folders of this name in the worlds' packages."""
    try:
        return world_folders(name)
    except (ValueError, ImportError) as error:
        raise ImproperlyConfigured(f"BRIGADE_WORLDS: {error}") from error


make_private_and_warn(_sqlite_file())
BASE_DIR: Path = paths.base_dir()
VERSION: str = paths.version()
VAR_DIR: Path = paths.make_var_dir()
SECRET_KEY: str = paths.secret_key()
SECRET_KEY_FILE: Path | None = None if _given("BRIGADE_SECRET_KEY", "") else VAR_DIR / "secret.key"
RUN_LOCK: Path = VAR_DIR / "run.lock"
"""File that `make run` keeps locked while it runs."""
DEBUG: bool = _flag("BRIGADE_DEBUG")
PUBLIC_URL: str = _public_url()
NOTED_URL = last_instance_url
"""Function that returns the address where the app of this folder runs or last ran; None if it was not written
down."""
ALLOWED_HOSTS: list[str] = _hosts(PUBLIC_URL)
TRUSTED_PROXIES = _trusted_proxies()
REDIS_URL: str = paths.redis_url()
PREFIX: str = _prefix()
DECISION_SECONDS: float = _decision_seconds()
SYNTHETIC_SPEED: float = _synthetic_speed()
METRICS_TOKEN: str = _metrics_token()
PROLIFIC_KEYS: str = _prolific_keys()
LOG_DIR: Path = paths.log_dir()
METRICS_DIR: Path = paths.metrics_dir()
_check_processes()
_check_models()

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "axes",
    "csp",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "django_htmx",
    "kitchen",
    "study",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "brigade.middleware.check_host",
    "brigade.middleware.CompressedStaticMiddleware",
    "kitchen.infra.db_retry.lock_timeout_middleware",
    "brigade.middleware.activate_default_language",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "study.researchers.staff_login.SlidingSession",
    "study.researchers.staff_login.SecondFactor",
    "study.researchers.reauthenticate.ReauthenticateInAdmin",
    "study.researchers.security_events.remember_request",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
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
    },
    {
        "NAME": "panels",
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "templates", *_folders_of_worlds("templates")],
        "OPTIONS": {"environment": "kitchen.play.live.render_page.jinja_environment"},
    },
]
"""Pages are Django templates; panels and the worlds' templates (`*.jinja`) are Jinja2."""

DATA_UPLOAD_MAX_MEMORY_SIZE = LARGEST_BODY

DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {
            "hosts": [{"address": REDIS_URL, "socket_timeout": None}],
            "prefix": PREFIX,
            "serializer_format": "msgpack",
        },
    }
}

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": PREFIX,
        "OPTIONS": {"serializer": "kitchen.infra.storable_json.JsonSerializer"},
    }
}

CELERY_BROKER_URL = paths.broker_url(REDIS_URL)
CELERY_TASK_DEFAULT_QUEUE = PREFIX
EXPERIMENTS_QUEUE = f"{PREFIX}.experiments"
"""Agents alone and programs have a queue and workers of their own, so that people who play need not wait for
them."""
CELERY_TASK_ROUTES = {
    "kitchen.experiment_lane": {"queue": EXPERIMENTS_QUEUE},
    "kitchen.pick_up_experiments": {"queue": EXPERIMENTS_QUEUE},
    "study.dry_run": {"queue": EXPERIMENTS_QUEUE},
    "study.erase_synthetic": {"queue": EXPERIMENTS_QUEUE},
}
CELERY_ACCEPT_CONTENT = CELERY_RESULT_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = CELERY_RESULT_SERIALIZER = "json"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
"""Retry the broker for ever."""
CELERY_WORKER_CONSUMER = "brigade.broker_reconnect:ReconnectingConsumer"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": int(DECISION_SECONDS * 4) + 60,
    "unacked_key": f"{PREFIX}.unacked",
    "unacked_index_key": f"{PREFIX}.unacked_index",
    "unacked_mutex_key": f"{PREFIX}.unacked_mutex",
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
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "study.researchers.account_security.BreachedStyleValidator"},
]
LOGIN_URL = "admin:login"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = ["username", "ip_address"]
"""Count failed logins separately: one name from many addresses, many names from one address."""
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = False  # True would erase others' failures: see `logins`
AXES_CLIENT_IP_CALLABLE = "study.researchers.staff_login.login_address"
AXES_LOCKOUT_CALLABLE = "study.researchers.staff_login.locked_out"
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
SECOND_FACTOR_REQUIRED: bool = _second_factor_required()
OTP_TOTP_ISSUER = "Brigade"
OTP_ADMIN_HIDE_SENSITIVE_DATA = True

KEEP_NAMES_DAYS = _days("BRIGADE_KEEP_NAMES_DAYS")
KEEP_DAYS = _days("BRIGADE_KEEP_DAYS")
KEEP_EVENTS_DAYS = _days("BRIGADE_KEEP_EVENTS_DAYS")

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("es", "Español"), ("zh-hans", "简体中文")]
"""The languages of participants' pages, each in its own words. Staff pages are in English."""
LOCALE_PATHS = [BASE_DIR / "locale", *_folders_of_worlds("locale")]
LANGUAGE_COOKIE_NAME = "brigade_language"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
DOCUMENTATION_DIR: Path = BASE_DIR / "docs" / "site" / "html"
DOCUMENTATION = "documentation/docs/index.html" if DOCUMENTATION_DIR.is_dir() else ""
"""First page of the documentation among the static files; empty unless `make docs` has built it."""
STATICFILES_DIRS: list[Path | tuple[str, Path]] = [BASE_DIR / "static", *_folders_of_worlds("static")]
if DOCUMENTATION:
    STATICFILES_DIRS.append(("documentation", DOCUMENTATION_DIR))
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
ENCRYPTED: bool = PUBLIC_URL.startswith("https://")
"""Whether a web server in front of us speaks TLS; it says so in X-Forwarded-Proto."""
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ENCRYPTED else None
SECURE_SSL_REDIRECT = ENCRYPTED
SECURE_SSL_HOST = urlsplit(PUBLIC_URL).netloc
SECURE_REDIRECT_EXEMPT = [r"^(health|ready|metrics)\b"]
"""Paths that programs on this machine or near it request without TLS."""
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if ENCRYPTED else 0
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
"""HSTS for subdomains and browser preload lists are not ours to decide."""
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENCRYPTED
_OURS_ALONE = "__Host-" if ENCRYPTED else ""
"""Prefix of cookie names. With it, browsers accept the cookie over TLS only, from this very host, and send it
to no other."""
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{_OURS_ALONE}sessionid", f"{_OURS_ALONE}csrftoken"
SESSION_COOKIE_AGE = 60 * _staff_idle_minutes()
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "brigade.log_formatters.JsonFormatter"
            if _log_form() == "json"
            else "brigade.log_formatters.LineFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
        },
        "bare": {"()": "brigade.log_formatters.RedactingFormatter", "format": "%(message)s"},
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line"},
        "security": {
            "class": "brigade.log_formatters.SeparateLogFile",
            "filename": paths.log_dir() / "security.log",
            "delay": True,
            "formatter": "bare",
        },
    },
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "axes": {"level": "WARNING"},  # at INFO it logs every login
        "fontTools": {"level": "WARNING"},  # at INFO it logs every glyph of a PDF
        "django": {"level": "INFO"},  # without the handlers of its own that Django gives it
        "django.server": {"level": "INFO", "propagate": True},
        "brigade.security": {"handlers": ["security"], "propagate": False},
        "celery.task": {"handlers": ["stderr"], "propagate": False},  # or the worker gives it another
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},  # at INFO it logs every address
    },
}
