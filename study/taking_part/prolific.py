"""Links that Prolific signed ("secure external study link"): a JSON Web Token in the address.

Prolific adds `prolific_token`: RS256, with the issuer, when it ends, our address as audience, and under
`prolific` the parameters of the study's link, filled in. The token is read once. The browser is sent on to
the same address without it, and remembers for some hours, in a cookie that we sign, that it came by such a
link: there it is as good as a link that we signed. A link whose token does not hold is one without a token.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import jwt
from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.crypto import salted_hmac

from study.design.models import Study
from study.design.recruitment import LONGEST, PLACES, PROOF, UNFILLED, label_proof
from study.taking_part.prolific_keys import ring

TOKEN = "prolific_token"  # noqa: S105 - its name
ISSUER = "https://www.prolific.com"
LONGEST_TOKEN = 8192
LEEWAY_SECONDS = 60
"""So far clocks may differ."""
SALT = "brigade.signed-by-prolific"
SECONDS = 4 * 3600
"""A browser that came by a signed link is believed for so long; it is in long before."""

log = logging.getLogger(__name__)


class NotSignedError(ValueError):
    """The token does not hold; says why, and nothing that was in it."""


def without_token(request: HttpRequest, study: Study) -> HttpResponse:
    """To the same address without the token. Where it holds, the address says whom it names, and this browser
    that it was signed."""
    said = request.GET.dict()
    token = said.pop(TOKEN)
    named: Mapping[str, str] = {}
    if study.recruitment == Study.Recruitment.PROLIFIC:
        try:
            named = named_by(token, study, host=request.get_host(), said=said)
        except NotSignedError as error:
            log.warning("%s: a signed link of Prolific was not taken: %s", study.slug, error)
    answer = redirect(f"{request.path}?{urlencode(said | dict(named))}")
    if named:
        _remember(answer, study, named[PLACES[study.recruitment].label])
    return answer


def said_by(request: HttpRequest, study: Study) -> dict[str, str]:
    """What the link says, signed where this browser came by a signed one for the same person."""
    said = request.GET.dict()
    label = said.get(PLACES[study.recruitment].label, "").strip()
    try:
        mark = signing.loads(request.COOKIES.get(cookie_of(study), ""), salt=SALT, max_age=SECONDS)
    except signing.BadSignature:
        return said
    return {**said, PROOF: label_proof(study, label)} if label and mark == _mark(study, label) else said


def named_by(token: str, study: Study, *, host: str, said: Mapping[str, str]) -> dict[str, str]:
    """The parameters that the token vouches for; NotSignedError where it does not hold, is for another study
    or another server than `host` (or the settings) says, or where the link has said something else."""
    claims = _claims(token)
    place = PLACES[Study.Recruitment.PROLIFIC]
    if not is_for(claims["aud"], study, {host, urlsplit(settings.PUBLIC_URL).netloc}):
        raise NotSignedError("it is for another address")
    given = claims.get("prolific")
    given = given if isinstance(given, dict) else {}
    named = {name: str(given[name]) for name in (place.label, *place.more) if given.get(name)}
    if place.label not in named or any(len(value) > LONGEST for value in named.values()):
        raise NotSignedError(f"it lacks {place.label}")
    plain = {name: value for name, value in said.items() if not UNFILLED(value)}
    if any(plain.get(name, value) != value for name, value in named.items()):
        raise NotSignedError("the link names somebody else than it does")
    return named


def _claims(token: str) -> dict[str, Any]:
    """What a good token says. NotSignedError."""
    try:
        if len(token) > LONGEST_TOKEN:
            raise NotSignedError("it is too long")
        key = ring.find(str(jwt.get_unverified_header(token).get("kid", "")))
        if key is None:
            raise NotSignedError("there is no key of that name")
        return jwt.decode(
            token,
            key,
            algorithms=["RS256"],
            issuer=ISSUER,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "aud", "iss"], "verify_aud": False},  # `is_for` does
        )
    except (jwt.PyJWTError, RecursionError) as error:
        raise NotSignedError(type(error).__name__) from None


def is_for(audience: object, study: Study, hosts: set[str]) -> bool:
    """Whether it names one of these hosts and, where it has a path, the page of this study."""
    for one in map(str, audience if isinstance(audience, list) else [audience]):
        try:
            parts = urlsplit(one if "//" in one else f"//{one}")
        except ValueError:
            continue
        paths = {"", study.get_absolute_url().strip("/")}
        if parts.netloc.lower() in hosts and parts.path.strip("/") in paths:
            return True
    return False


def cookie_of(study: Study) -> str:
    """The name of the cookie that says so."""
    return f"brigade_signed_{study.pk}"


def _remember(answer: HttpResponse, study: Study, label: str) -> None:
    answer.set_cookie(
        cookie_of(study),
        signing.dumps(_mark(study, label), salt=SALT),
        max_age=SECONDS,
        path=study.get_absolute_url(),
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def _mark(study: Study, label: str) -> str:
    """Stands for the person in the cookie, which others may read, and is no proof in a link."""
    return salted_hmac(SALT, f"{study.pk} {label}", algorithm="sha256").hexdigest()
