"""Links that Prolific signed ("secure external study link"): a JSON Web Token in the address.

Prolific adds `prolific_token`: RS256, with the issuer, when it ends, our address as audience, and under
`prolific` the parameters of the study's link, filled in, and the workspace whose study it is. The token is
read once. The browser is sent on to the same address without it, and remembers for some hours, in a cookie
that we sign, that it came by such a link: there it is as good as a link that we signed.

Anybody can make a study on Prolific whose link leads here and names somebody else. So only a token of the
workspace that the researcher has named vouches for anybody, and for nobody who came by another study there.
A link whose token does not hold is one without a token; so is one whose study here names no workspace, but
for what the token fills in.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.crypto import salted_hmac

from study.design.models import Study
from study.design.recruitment import LONGEST, PLACES, PROOF, UNFILLED, label_proof
from study.taking_part.prolific_keys import ring

TOKEN = "prolific_token"  # noqa: S105 - its name
LABEL = PLACES[Study.Recruitment.PROLIFIC].label
STUDY = "STUDY_ID"
"""Prolific's own name of a study there."""
ISSUER = "https://www.prolific.com"
LONGEST_TOKEN = 8192
LEEWAY_SECONDS = 60
"""So far clocks may differ."""
SALT = "brigade.signed-by-prolific"
SECONDS = 4 * 3600
"""A browser that came by a signed link is believed for so long; it is in long before."""

log = logging.getLogger(__name__)


NO_WORKSPACE = "the study names no workspace of Prolific"


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
    if named and study.prolific_workspace:
        _remember(answer, study, _mark(study, named))
    elif named:
        log.warning("%s: a signed link of Prolific vouches for nobody: %s", study.slug, NO_WORKSPACE)
    return answer


def said_by(request: HttpRequest, study: Study) -> dict[str, str]:
    """What the link says, signed where this browser came by a signed one for the same person."""
    said = request.GET.dict()
    if study.recruitment != Study.Recruitment.PROLIFIC or not study.prolific_workspace:
        return said
    try:
        mark = signing.loads(request.COOKIES.get(cookie_of(study), ""), salt=SALT, max_age=SECONDS)
    except signing.BadSignature:
        return said
    if mark != _mark(study, said) or _came_by_another(study, said):
        return said
    return {**said, PROOF: label_proof(study, said[LABEL].strip())}


def _came_by_another(study: Study, said: Mapping[str, str]) -> bool:
    """Whether whom the link names is in already, by another study of Prolific than it says."""
    person = study.participants.filter(label=said[LABEL].strip()).first()
    return person is not None and person.referral.get(STUDY, "") != said.get(STUDY, "").strip()


def named_by(token: str, study: Study, *, host: str, said: Mapping[str, str]) -> dict[str, str]:
    """The parameters that the token vouches for; NotSignedError where it does not hold, is for another study
    or another server than `host` (or the settings) says, or where the link has said something else."""
    claims = _claims(token)
    if not is_for(claims["aud"], study, {host, urlsplit(settings.PUBLIC_URL).netloc}):
        raise NotSignedError("it is for another address")
    given = claims.get("prolific")
    given = given if isinstance(given, dict) else {}
    if study.prolific_workspace and given.get("workspace_id") != study.prolific_workspace:
        raise NotSignedError("it is of another workspace")
    named = _named(given)
    plain = {name: value for name, value in said.items() if not UNFILLED(value)}
    if any(plain.get(name, value) != value for name, value in {STUDY: "", **named}.items()):
        raise NotSignedError("the link names somebody else than it does")
    return named


def _named(given: Mapping[str, Any]) -> dict[str, str]:
    """Of what stands in the token, the parameters of a link, each fit to be kept. NotSignedError."""
    names = (LABEL, *PLACES[Study.Recruitment.PROLIFIC].more)
    named = {name: given[name] for name in names if given.get(name) not in (None, "")}
    if LABEL not in named:
        raise NotSignedError(f"it lacks {LABEL}")
    for name, value in named.items():
        if not _is_fit(value):
            raise NotSignedError(f"{name} is not filled in, or damaged")
    return named


def _is_fit(value: object) -> bool:
    """Whether this is what a place fills in."""
    return (
        isinstance(value, str)
        and len(value) <= LONGEST
        and value.isprintable()
        and value == value.strip()
        and not UNFILLED(value)
    )


def _claims(token: str) -> dict[str, Any]:
    """What a good token says. NotSignedError."""
    if len(token) > LONGEST_TOKEN:
        raise NotSignedError("it is too long")
    try:
        key = ring.find(str(jwt.get_unverified_header(token).get("kid", "")))
        claims = _decoded(token, key) if key else None
    except (jwt.PyJWTError, TypeError, ValueError, RecursionError) as error:
        raise NotSignedError(type(error).__name__) from None
    if claims is None:
        raise NotSignedError("there is no key of that name")
    return claims


def _decoded(token: str, key: RSAPublicKey) -> dict[str, Any]:
    return jwt.decode(
        token,
        key,
        algorithms=["RS256"],
        issuer=ISSUER,
        leeway=LEEWAY_SECONDS,
        options={"require": ["exp", "aud", "iss"], "verify_aud": False},  # `is_for` does
    )


def is_for(audience: object, study: Study, hosts: set[str]) -> bool:
    """Whether it names one of these hosts and, where it has a path, the page of this study."""
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
    """The name of the cookie that says so."""
    return f"brigade_signed_{study.pk}"


def _remember(answer: HttpResponse, study: Study, mark: str) -> None:
    answer.set_cookie(
        cookie_of(study),
        signing.dumps(mark, salt=SALT),
        max_age=SECONDS,
        path=study.get_absolute_url(),
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def _mark(study: Study, said: Mapping[str, str]) -> str:
    """Stands for the person, and the study on Prolific, in the cookie, which others may read. It is no proof
    in a link, and does not hold for a workspace that is named later."""
    of = [said.get(name, "").strip() for name in (LABEL, STUDY)]
    return salted_hmac(
        SALT, json.dumps([study.pk, study.prolific_workspace, *of]), algorithm="sha256"
    ).hexdigest()
