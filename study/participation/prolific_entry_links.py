"""Verify study links that Prolific signed (“secure external study links”), and fetch Prolific's public keys.

Prolific adds the link parameter `prolific_token`, a JSON Web Token (RS256). The server checks the token and
redirects the browser to the same address without it. A signed cookie remembers the result for some hours. A
token must name the Prolific workspace that the researcher entered. Otherwise, anybody could create a Prolific
study whose signed links name another person.
"""

# Prolific adds the parameter `prolific_token`, a JSON Web Token (RS256). The token holds the issuer, the
# expiry time, and this server's address as audience. Under `prolific` it holds the study's workspace and the
# filled-in parameters of the link. The server reads the token once and redirects the browser to the same
# address without it. A signed cookie remembers for some hours that the browser came by such a link. The link
# is then treated like a link that this server signed.
#
# Anybody can make a study on Prolific whose link leads here and names another person. So a token is trusted
# only if it has the workspace that the researcher entered. It is not trusted for a participant who entered
# through another Prolific study. A link with an invalid token is treated like a link without a token. If the
# study names no workspace, a valid token only fills in the link's parameters.
#
# Prolific asks clients to fetch its keys once a day. If a link has an unknown key, each process fetches the
# keys, at most once a minute. If the keys cannot be fetched, the old ones are used. Looking up a known key
# never waits.

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.crypto import salted_hmac

from kitchen.infra.rsa_public_keys import Keys, KeysError, find_key, read_keys
from study.design.models import Study
from study.design.recruitment_platforms import (
    LONGEST,
    PROOF,
    RECRUITMENT_PLACES,
    UNFILLED_PLACEHOLDER,
    label_proof,
)
from study.participation.signed_cookies import set_signed_cookie, signed_cookie

FETCH_SECONDS = 3.0
WAITED_SECONDS = 4.0
"""Longest wait for an unknown key, in seconds, even if the name lookup of the server hangs."""
KEPT_SECONDS = 24 * 3600.0
AGAIN_SECONDS = 60.0
THREAD = "prolific-keys"
LARGEST = 262_144
"""Largest accepted reply in bytes. A set of keys has a few thousand."""

log = logging.getLogger(__name__)


def read_source(source: str) -> str:
    """Return the text at an HTTPS address or in a file. `source` is the address or path. Raises KeysError
    if it cannot be read."""
    try:
        return asyncio.run(_fetched(source)) if source.startswith("https://") else Path(source).read_text()
    except (OSError, UnicodeDecodeError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise KeysError(f"the keys cannot be read: {type(error).__name__}") from error


async def _fetched(source: str) -> str:
    """Return the text at this address. The whole download takes at most `FETCH_SECONDS`, even if the server
    sends slowly."""
    async with asyncio.timeout(FETCH_SECONDS), httpx2.AsyncClient() as client:
        return await fetched(client, source)


async def fetched(client: httpx2.AsyncClient, source: str) -> str:
    """Return the text at this address. Raises KeysError if the response is larger than `LARGEST` bytes."""
    body = b""
    async with client.stream("GET", source, headers={"Accept-Encoding": "identity"}) as answer:
        answer.raise_for_status()
        async for piece in answer.aiter_raw(LARGEST):
            body += piece
            if len(body) > LARGEST:
                raise KeysError(f"the keys cannot be read: more than {LARGEST} bytes")
    return body.decode()


class KeyRing:
    """Thread-safe cache of the public keys of one source.

    Looking up a known key never waits for a fetch. A failed fetch is not repeated at every lookup.
    (PyJWT's `PyJWKClient` waits and repeats.)
    """

    def __init__(
        self, read: Callable[[str], str] = read_source, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._clock, self._lock = read, clock, Lock()
        self._keys: Keys = {}
        self._read_at = self._asked_at = float("-inf")
        self._fetch: Thread | None = None

    def find(self, name: str) -> RSAPublicKey | None:
        """Return the key with this name. Return None if Prolific has no such key or its keys cannot be
        fetched."""
        with self._lock:
            key, fetch = find_key(self._keys, name), self._fetching(name)
        if key is None and fetch:
            fetch.join(WAITED_SECONDS)
            with self._lock:
                key = find_key(self._keys, name)
        return key

    def _fetching(self, name: str) -> Thread | None:
        """Return the thread that fetches the keys, or None if none was ever started. A new thread is started
        first if the key `name` is unknown or the stored keys are old."""
        now = self._clock()
        old = now - self._read_at > KEPT_SECONDS or find_key(self._keys, name) is None
        idle = self._fetch is None or not self._fetch.is_alive()
        if old and idle and now - self._asked_at > AGAIN_SECONDS:
            self._asked_at = now
            self._fetch = Thread(target=self._renew, args=[now], name=THREAD, daemon=True)
            self._fetch.start()
        return self._fetch

    def _renew(self, now: float) -> None:
        try:
            keys = read_keys(self._read(settings.PROLIFIC_KEYS))
        except KeysError as error:
            log.warning("BRIGADE_PROLIFIC_KEYS: %s", error)
            return
        with self._lock:
            self._keys, self._read_at = keys, now


ring = KeyRing()
"""The key ring of this process."""

TOKEN = "prolific_token"  # noqa: S105 - its name
LABEL = RECRUITMENT_PLACES[Study.Recruitment.PROLIFIC].label
STUDY = "STUDY_ID"
"""Prolific's parameter for its own ID of a study."""
ISSUER = "https://www.prolific.com"
LONGEST_TOKEN = 8192
LEEWAY_SECONDS = 60
"""Accepted difference between clocks."""
SALT = "brigade.signed-by-prolific"
SECONDS = 4 * 3600
"""Lifetime of the cookie that remembers a signed link. Entering takes much less time."""


NO_WORKSPACE = "the study names no workspace of Prolific"


class NotSignedError(ValueError):
    """The token is not valid. The message gives the reason, but no part of the token."""


def redirect_without_token(request: HttpRequest, study: Study) -> HttpResponse:
    """Redirect to the same address without Prolific's token.

    If the token is valid, the new address has the link parameters in the token. If the study names a
    workspace, a cookie records that the link was signed.
    """
    parameters = request.GET.dict()
    token = parameters.pop(TOKEN)
    named: Mapping[str, str] = {}
    if study.recruitment == Study.Recruitment.PROLIFIC:
        try:
            named = verified_parameters(token, study, host=request.get_host(), parameters=parameters)
        except NotSignedError as error:
            log.warning("%s: a signed link of Prolific was not taken: %s", study.slug, error)
    answer = redirect(f"{request.path}?{urlencode(parameters | dict(named))}")
    if named and study.prolific_workspace:
        mark, path = _mark(study, named), study.get_absolute_url()
        set_signed_cookie(answer, cookie_of(study), mark, salt=SALT, path=path, max_age=SECONDS)
    elif named:
        log.warning("%s: a signed link of Prolific vouches for nobody: %s", study.slug, NO_WORKSPACE)
    return answer


def link_parameters(request: HttpRequest, study: Study) -> dict[str, str]:
    """Return the parameters of the request's link. If this browser came by a signed link for the same person,
    a proof is added that marks this link as signed."""
    parameters = request.GET.dict()
    if study.recruitment != Study.Recruitment.PROLIFIC or not study.prolific_workspace:
        return parameters
    mark = signed_cookie(request, cookie_of(study), salt=SALT, max_age=SECONDS)
    if mark != _mark(study, parameters):
        return parameters
    label = parameters[LABEL].strip()
    person = study.participants.filter(label=label).first()
    if person and person.referral.get(STUDY, "") != parameters.get(STUDY, "").strip():
        return parameters  # this person takes part through another study on Prolific
    return {**parameters, PROOF: label_proof(study, label)}


def verified_parameters(
    token: str, study: Study, *, host: str, parameters: Mapping[str, str]
) -> dict[str, str]:
    """Verify a token of Prolific, and return the link parameters that it confirms.

    Raises NotSignedError if the token is invalid, is for another study or server, or contradicts
    `parameters` (the parameters in the link). The server must be `host` or the host in the settings.
    """
    claims = _claims(token)
    if not audience_matches(claims["aud"], study, {host, urlsplit(settings.PUBLIC_URL).netloc}):
        raise NotSignedError("it is for another address")
    given = claims.get("prolific")
    given = given if isinstance(given, dict) else {}
    if study.prolific_workspace and given.get("workspace_id") != study.prolific_workspace:
        raise NotSignedError("it is of another workspace")
    named = _named(given)
    plain = {name: value for name, value in parameters.items() if not UNFILLED_PLACEHOLDER(value)}
    if any(plain.get(name, value) != value for name, value in {STUDY: "", **named}.items()):
        raise NotSignedError("the link names somebody else than it does")
    return named


def _named(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the link parameters in the token's contents. Raises NotSignedError if the label is missing, or
    if a parameter cannot be stored."""
    names = (LABEL, *RECRUITMENT_PLACES[Study.Recruitment.PROLIFIC].more)
    named = {name: given[name] for name in names if given.get(name) not in (None, "")}
    if LABEL not in named:
        raise NotSignedError(f"it lacks {LABEL}")
    for name, value in named.items():
        is_text = isinstance(value, str) and len(value) <= LONGEST and value.isprintable()
        if not is_text or value != value.strip() or UNFILLED_PLACEHOLDER(value):
            raise NotSignedError(f"{name} is not filled in, or damaged")
    return named


def _claims(token: str) -> dict[str, Any]:
    """Return the claims (the contents) of a signed token. Raises NotSignedError if the token is invalid."""
    if len(token) > LONGEST_TOKEN:
        raise NotSignedError("it is too long")
    options: Any = {"require": ["exp", "aud", "iss"], "verify_aud": False}  # `audience_matches` does
    try:
        key = ring.find(str(jwt.get_unverified_header(token).get("kid", "")))
        if key:
            return jwt.decode(
                token, key, algorithms=["RS256"], issuer=ISSUER, leeway=LEEWAY_SECONDS, options=options
            )
    except (jwt.PyJWTError, TypeError, ValueError, RecursionError) as error:
        raise NotSignedError(type(error).__name__) from None
    raise NotSignedError("there is no key of that name")


def audience_matches(audience: object, study: Study, hosts: set[str]) -> bool:
    """Return whether a token's audience names one of these hosts. The audience is a URL or a list of URLs.
    If a URL has a path, the path must be this study's page."""
    paths = {"", study.get_absolute_url().strip("/")}
    named = audience if isinstance(audience, list) else [audience]
    for one in (each for each in named if isinstance(each, str)):
        try:
            parts = urlsplit(one if "//" in one else f"//{one}")
        except ValueError:
            continue
        is_page = parts.scheme in {"", "http", "https"} and parts.path.strip("/") in paths
        if is_page and parts.netloc and parts.netloc.lower() in hosts:
            return True
    return False


def cookie_of(study: Study) -> str:
    """Return the name of the cookie that remembers a signed link to this study."""
    return f"brigade_signed_{study.pk}"


def _mark(study: Study, parameters: Mapping[str, str]) -> str:
    """Return a keyed hash of the participant and the Prolific study, for a cookie that other people may read.

    The hash cannot be used as a proof in a link. It becomes invalid when the researcher sets another
    workspace ID.
    """
    whose = [parameters.get(name, "").strip() for name in (LABEL, STUDY)]
    content = json.dumps([study.pk, study.prolific_workspace, *whose])
    return salted_hmac(SALT, content, algorithm="sha256").hexdigest()
