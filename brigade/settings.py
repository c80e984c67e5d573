"""Define the Django settings, read from environment variables with defaults for one machine.

`docs/variables.md` lists the variables. An empty variable counts as unset. An invalid value raises
ImproperlyConfigured or PathError.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from brigade import paths
from brigade.listen_address import last_instance_url
from brigade.lost_peers import postgres_client_options, postgres_server_settings, redis_options
from brigade.paths import make_private_and_warn
from brigade.process_startup import use_one_blas_thread
from brigade.server_limits import LARGEST_BODY
from kitchen.infra.os_processes import planner_processes, web_processes
from kitchen.registry.world_registry import world_folders

use_one_blas_thread()

HOST = re.compile(r"\.?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
"""A host name of this site; with a dot before it, all names below it as well."""
LOCK_SECONDS = 5
"""Seconds that a request waits for a locked or silent database before it gets an error page."""
SQLITE = "django.db.backends.sqlite3"
TRUE, FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}
PROLIFIC_KEYS_AT = "https://api.prolific.com/.well-known/study/jwks.json"
PROLIFIC_API_AT = "https://api.prolific.com/api/v1"


def _given(name: str, default: str) -> str:
    """Return the environment variable `name`. If it is empty or not set, return `default`."""
    return os.environ.get(name, "").strip() or default


def _debug() -> bool:
    given = _given("BRIGADE_DEBUG", "false").lower()
    if given not in TRUE | FALSE:
        raise ImproperlyConfigured(f"BRIGADE_DEBUG: {given!r} is neither true nor false")
    return given in TRUE


def _is_second(name: str, first: str, second: str) -> bool:
    """Return True if the environment variable `name` holds the word `second`, and False if it holds
    `first`. The default is `first`."""
    given = _given(name, first).lower()
    if given not in {first, second}:
        raise ImproperlyConfigured(f"{name}: {given!r} is neither {first} nor {second}")
    return given == second


@contextmanager
def _reported(name: str, *errors: type[Exception]) -> Iterator[None]:
    """Context manager: report that the variable `name` has a wrong value, if one of these errors is raised in
    the block."""
    try:
        yield
    except errors as error:
        raise ImproperlyConfigured(f"{name}: {error}") from error


def _number(name: str, default: str, least: int, most: int) -> float:
    """Return the number in the environment variable `name`, or `default` if it is not set. The number must
    be from `least` to `most` and must not be 0."""
    with _reported(name, ValueError):
        number = float(_given(name, default))
    if not (least <= number <= most and number > 0):
        raise ImproperlyConfigured(f"{name}: {number:g} is not between {least} and {most}")
    return number


def _whole_number(name: str, most: int) -> int | None:
    """Return the whole number in the environment variable `name`. The number must be from 1 to `most`.
    Return None if the variable is not set."""
    given = _given(name, "")
    if given and not (re.fullmatch(r"[0-9]{1,5}", given) and 1 <= int(given) <= most):
        raise ImproperlyConfigured(f"{name}: {given!r} is not between 1 and {most}")
    return int(given) if given else None


def _check_processes() -> None:
    """Check the environment variables that set numbers of processes. They are read only later, when processes
    start."""
    try:
        web_processes(), planner_processes()
    except ValueError as error:
        raise ImproperlyConfigured(str(error)) from error


_SERVICE_VARIABLES = ("ANTHROPIC_SERVICE_TIER", "ANTHROPIC_INFERENCE_GEO", "OPENAI_SERVICE_TIER")
"""Environment variables of the tier and the region in which models are asked."""


def _check_models() -> None:
    """Check the configuration files about language models. They are read only later, at the first call of a
    model."""
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        if (given := _given(name, "")) and _wrong_address(given):
            raise ImproperlyConfigured(f"{name}: an address with http:// or https:// is wanted")
    if _given("BRIGADE_PRICES", ""):
        from kitchen.llm.call_costs import PriceFileError, load_prices  # 0.3 s, and few need it

        with _reported("BRIGADE_PRICES", PriceFileError):
            load_prices()
    if _given("BRIGADE_MODELS", ""):
        from kitchen.llm.model_capabilities import ModelListError, load_model_list  # likewise slow

        with _reported("BRIGADE_MODELS", ModelListError):
            load_model_list()
    if any(_given(name, "") for name in _SERVICE_VARIABLES):
        from kitchen.llm.service_settings import ENVIRONMENT, service_problem

        for provider, variables in ENVIRONMENT.items():
            if problem := service_problem(provider, ""):
                setting, _, why = problem.partition(": ")
                raise ImproperlyConfigured(f"{variables.get(setting, setting)}: {why}")


def _prolific_keys() -> str:
    """Return the path or URL of Prolific's signing keys. A file is checked now. A URL is checked when the
    keys are needed."""
    given = _given("BRIGADE_PROLIFIC_KEYS", PROLIFIC_KEYS_AT)
    if given.startswith("https://") and not _wrong_address(given):
        return given
    from kitchen.infra.rsa_public_keys import KeysError, read_keys  # 0.1 s, and few need it

    with _reported(f"BRIGADE_PROLIFIC_KEYS: {given!r}", OSError, UnicodeDecodeError, KeysError):
        read_keys(Path(given).read_text())
    return str(Path(given).absolute())


def _wrong_address(url: str) -> str:
    """Return why this URL is not the address of a web server. Return an empty string if the URL is valid."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError as error:  # unclosed brackets, a port that is not a number
        return str(error)
    return "" if good else "is not an address with http:// or https://"


def _public_url() -> str:
    url = _given("BRIGADE_URL", "http://localhost:8000").rstrip("/")
    if not (wrong := _wrong_address(url)):
        parts = urlsplit(url)
        if parts.path or parts.query or parts.fragment or parts.username is not None:
            wrong = "only http:// or https://, a host and a port are wanted, no path"
    if wrong:
        raise ImproperlyConfigured(f"BRIGADE_URL: {url!r}: {wrong}")
    return url


def _hosts(url: str) -> list[str]:
    """Return the allowed host names of this app. They always include the host of `url`, the app's own
    address."""
    listed = [name.strip() for name in os.environ.get("BRIGADE_HOSTS", "").split(",")]
    given = [name for name in listed if name] or ["localhost", "127.0.0.1", "[::1]"]
    if wrong := [name for name in given if not HOST.fullmatch(name)]:
        raise ImproperlyConfigured(f"BRIGADE_HOSTS: {wrong[0]!r} is no name of a host")
    own = urlsplit(url).hostname or ""
    return list(dict.fromkeys([*given, f"[{own}]" if ":" in own else own]))


def _trusted_proxies() -> list[IPv4Network | IPv6Network]:
    given = _given("BRIGADE_TRUSTED_PROXIES", "127.0.0.1, ::1")
    with _reported("BRIGADE_TRUSTED_PROXIES", ValueError):
        return [ip_network(said.strip()) for said in given.split(",") if said.strip()]


def _text(name: str, default: str, pattern: str, wrong: str) -> str:
    """Return the text in the environment variable `name`, or `default` if it is not set. The text must
    match `pattern`. `wrong` is the error message, in which `{}` is replaced by the value."""
    given = _given(name, default)
    if given and not re.fullmatch(pattern, given):
        raise ImproperlyConfigured(f"{name}: {wrong.format(repr(given))}")
    return given


def _database(database: dict[str, Any]) -> dict[str, Any]:
    """Return the database settings with connection options. SQLite gets a write-ahead log. PostgreSQL gets
    persistent connections that are checked before use."""
    if database.get("ENGINE") == SQLITE:
        database["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": LOCK_SECONDS,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON;",
        }
        database["TEST"] = {"NAME": f"{database['NAME']}.test"}
        return {**database, "CONN_MAX_AGE": None}
    if database.get("ENGINE") != "django.db.backends.postgresql":
        raise ImproperlyConfigured("DATABASE_URL: only sqlite:/// and postgres:// are supported")
    options = {"connect_timeout": LOCK_SECONDS, **postgres_client_options(), **database.get("OPTIONS", {})}
    ours = f"-c lock_timeout={LOCK_SECONDS}s {postgres_server_settings()}"
    options["options"] = f"{ours} {options.get('options', '')}".strip()
    return {**database, "CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True, "OPTIONS": options}


def _named_database() -> dict[str, Any]:
    """Return the database settings for `DATABASE_URL`. Without it, return those of the default SQLite file,
    whose path is not parsed as a URL."""
    given = _given("DATABASE_URL", "")
    if not given:
        return {"ENGINE": SQLITE, "NAME": str(paths.database_file())}
    with (
        _reported("DATABASE_URL", ValueError, KeyError, ImproperlyConfigured),
        warnings.catch_warnings(action="ignore"),  # we report unknown schemes ourselves, above
    ):
        return dict(environ.Env.db_url_config(given))


def _folders_of_worlds(name: str) -> list[Path]:
    with _reported("BRIGADE_WORLDS", ValueError, ImportError):
        return world_folders(name)


_named = _named_database()
make_private_and_warn(str(_named["NAME"]) if _named.get("ENGINE") == SQLITE else None)
BASE_DIR = paths.base_dir()
VERSION: str = paths.version()
VAR_DIR: Path = paths.make_var_dir()
SECRET_KEY: str = paths.secret_key()
SECRET_KEY_FILE: Path | None = None if _given("BRIGADE_SECRET_KEY", "") else VAR_DIR / "secret.key"
RUN_LOCK: Path = VAR_DIR / "run.lock"  # `make run` keeps it locked while it runs
DEBUG: bool = _debug()
PUBLIC_URL: str = _public_url()
NOTED_URL = last_instance_url
"""Function that returns where the app of this folder runs or last ran; None if that is not known."""
ALLOWED_HOSTS: list[str] = _hosts(PUBLIC_URL)
TRUSTED_PROXIES = _trusted_proxies()
REDIS_URL: str = paths.redis_url()
PREFIX: str = _text(
    "BRIGADE_PREFIX", "brigade", r"[A-Za-z0-9_.-]{1,40}", "{}: up to 40 of A-Z a-z 0-9 _ . - are wanted"
)
DECISION_SECONDS: float = _number("BRIGADE_DECISION_SECONDS", "30", 0, 600)
SYNTHETIC_SPEED: float = _number("BRIGADE_SYNTHETIC_SPEED", "5", 1, 100)
METRICS_TOKEN: str = _text(
    "BRIGADE_METRICS_TOKEN", "", r"[!-~]{20,200}", "20 to 200 characters without spaces are wanted"
)
PROLIFIC_KEYS: str = _prolific_keys()
PROLIFIC_API: str = _text(
    "BRIGADE_PROLIFIC_API",
    "https://api.prolific.com/api/v1",
    r"https?://[!-~]{1,200}",
    "{}: an address is wanted",
)
PROLIFIC_TOKEN: str = _text(
    "BRIGADE_PROLIFIC_TOKEN", "", r"[!-~]{8,400}", "8 to 400 characters without spaces are wanted"
)
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
    "study.researchers.staff_login.RequireSecondFactor",
    "study.researchers.reauthenticate.ReauthenticateInAdmin",
    "study.researchers.security_events.remember_request",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "brigade.middleware.read_foreign_files_in_pool",
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

DATABASES = {"default": _database(_named)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "kitchen.infra.redis_channel_layer.RedisChannelLayer",
        "CONFIG": {
            "hosts": [{"address": REDIS_URL, "socket_timeout": None, **redis_options(REDIS_URL)}],
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
        "OPTIONS": {
            "serializer": "kitchen.infra.storable_json.JsonSerializer",
            "socket_timeout": 1.0,
            "socket_connect_timeout": 1.0,
        },
    }
}

CELERY_BROKER_URL = paths.broker_url(REDIS_URL)
CELERY_TASK_DEFAULT_QUEUE = PREFIX
EXPERIMENTS_QUEUE = f"{PREFIX}.experiments"
"""Agents alone and programs have a queue and workers of their own, so that players do not wait for them."""
CELERY_TASK_ROUTES = {
    "kitchen.experiment_lane": {"queue": EXPERIMENTS_QUEUE},
    "kitchen.pick_up_experiments": {"queue": EXPERIMENTS_QUEUE},
    "study.dry_run": {"queue": EXPERIMENTS_QUEUE},
    "study.erase_synthetic": {"queue": EXPERIMENTS_QUEUE},
    "study.make_export": {"queue": EXPERIMENTS_QUEUE},
}
CELERY_ACCEPT_CONTENT = CELERY_RESULT_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = CELERY_RESULT_SERIALIZER = "json"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # for ever
CELERY_WORKER_CONSUMER = "brigade.broker_reconnect:ReconnectingConsumer"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": int(DECISION_SECONDS * 4) + 60,
    **{f"{name}_key": f"{PREFIX}.{name}" for name in ("unacked", "unacked_index", "unacked_mutex")},
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 2,
    "max_retries": 1,
    "interval_start": 0,
    **redis_options(REDIS_URL),
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "study.researchers.password_rules.BreachedStyleValidator"},
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "study:staff"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = ["username", "ip_address"]  # counted separately
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = False  # True would erase others' failures: see `logins`
AXES_CLIENT_IP_CALLABLE = "study.researchers.staff_login.login_address"
AXES_LOCKOUT_CALLABLE = "study.researchers.staff_login.locked_out"
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
SECOND_FACTOR_REQUIRED: bool = _is_second("BRIGADE_SECOND_FACTOR", "optional", "required")
OTP_TOTP_ISSUER = "Brigade"
OTP_ADMIN_HIDE_SENSITIVE_DATA = True

KEEP_NAMES_DAYS = _whole_number("BRIGADE_KEEP_NAMES_DAYS", 99999)
KEEP_DAYS = _whole_number("BRIGADE_KEEP_DAYS", 99999)
KEEP_EVENTS_DAYS = _whole_number("BRIGADE_KEEP_EVENTS_DAYS", 99999)

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("es", "Español"), ("zh-hans", "简体中文")]  # of participants' pages
LOCALE_PATHS = [BASE_DIR / "locale", *_folders_of_worlds("locale")]
LANGUAGE_COOKIE_NAME = "brigade_language"
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATICFILES_DIRS: list[Path | tuple[str, Path]] = [BASE_DIR / "static", *_folders_of_worlds("static")]
DOCUMENTATION = ""
"""First page of the documentation among the static files; empty unless `make docs` has built it."""
if (_site := BASE_DIR / "docs" / "site" / "html").is_dir():
    DOCUMENTATION = "documentation/docs/index.html"
    STATICFILES_DIRS.append(("documentation", _site))
WHITENOISE_USE_FINDERS = True

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        **{f"{kind}-src": [SELF] for kind in ("default", "script", "style", "font", "connect")},
        **{name: [NONE] for name in ("object-src", "base-uri", "frame-ancestors")},
        "img-src": [SELF, "data:"],
        "form-action": [SELF],
    }
}
ENCRYPTED: bool = PUBLIC_URL.startswith("https://")
"""True if a web server in front of this one speaks TLS; it says so in X-Forwarded-Proto."""
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ENCRYPTED else None
SECURE_SSL_REDIRECT = ENCRYPTED
SECURE_SSL_HOST = urlsplit(PUBLIC_URL).netloc
SECURE_REDIRECT_EXEMPT = [r"^(health|ready|metrics)\b"]
"""Paths that programs near this machine request without TLS."""
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if ENCRYPTED else 0
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]  # HSTS of subdomains is not ours to decide
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENCRYPTED
_HOST = "__Host-" if ENCRYPTED else ""
"""Prefix of cookies that browsers accept over TLS only, from this very host, and send to no other."""
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{_HOST}sessionid", f"{_HOST}csrftoken"
SESSION_COOKIE_AGE = 60 * (_whole_number("BRIGADE_STAFF_IDLE_MINUTES", 20160) or 120)

_FORMATTER = "JsonFormatter" if _is_second("BRIGADE_LOG", "text", "json") else "LineFormatter"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": f"brigade.log_formatters.{_FORMATTER}",
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
        },
        "bare": {"()": "brigade.log_formatters.RedactingFormatter", "format": "%(message)s"},
    },
    "filters": {"broker_loss": {"()": "brigade.broker_loss_log.BrokerLossFilter"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["broker_loss"]},
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
        "celery.worker.consumer": {"level": "WARNING"},  # at INFO it logs each part of a new connection
        "celery.app.trace": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},  # at INFO it logs every address
    },
}
