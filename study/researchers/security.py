"""What matters to security is noted: a row for the page of superusers, a line of JSON in a log of its own.

No secret is in it: no password, not even a wrong one or a name that nobody has, for it may be a password
typed in the wrong place; of a token only how it begins; of somebody who was erased only what their receipt
says, without what proves it, and a mark that leads to nobody, so that no backup brings them back
(`study.people.marks`).
"""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db import transaction
from django.http import HttpRequest

from kitchen.machine.client_address import client_address
from study.design.models import Study
from study.people.receipts import LeavingReceipt
from study.people.signals import person_goes
from study.researchers.acting import request_now
from study.researchers.models import SecurityEvent
from study.researchers.noted import event_write

log = logging.getLogger("brigade.security")

Kind = SecurityEvent.Kind


def security_note(
    kind: str,
    *,
    user: Any = None,
    study: Study | None = None,
    what: str = "",
    request: HttpRequest | None = None,
) -> None:
    """Note that this has happened: who did it, to which study, with what, from where. If that is not said, it
    is who of the staff asked for what is being answered; of participants nothing is noted. The row is written
    in the transaction around it, if there is one, and the line of the log once that is committed."""
    request = request or _of_staff(request_now())
    user = user or getattr(_of_staff(request), "user", None)
    noted = {
        "kind": str(kind),
        "user_name": user.get_username() if user else "",
        "study": study.slug if study else "",
        "what": what[:200],
        "address": str(client_address(request) or "") if request else "",
    }
    event = event_write(**noted)
    line = json.dumps({"at": event.at.isoformat(timespec="seconds"), **noted})
    transaction.on_commit(partial(log.info, line), robust=True)


def _of_staff(request: HttpRequest | None) -> HttpRequest | None:
    """The request, if somebody is logged in."""
    user = getattr(request, "user", None)
    return request if user is not None and user.is_authenticated else None


def note_what_is_told() -> None:
    """From now on note what others tell of: logins, and that somebody was erased."""
    user_logged_in.connect(_logged_in)
    user_logged_out.connect(_logged_out)
    user_login_failed.connect(_login_failed)
    person_goes.connect(_person_goes)


def _logged_in(*, user: Any, request: HttpRequest, **_: Any) -> None:
    security_note(Kind.LOGIN, user=user, request=request)


def _logged_out(*, user: Any, request: HttpRequest, **_: Any) -> None:
    if user:
        security_note(Kind.LOGOUT, user=user, request=request)


def _login_failed(*, credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    name = str(credentials.get("username") or "")[:150]
    user = get_user_model().objects.filter(username=name).first()
    security_note(Kind.LOGIN_FAILED, user=user, request=request)


def _person_goes(*, study_id: int, receipt: LeavingReceipt, mark: str, by: Any, **_: Any) -> None:
    security_note(
        Kind.PERSON_ERASED,
        user=by,
        study=Study.objects.filter(pk=study_id).first(),
        what=f"{receipt.without_proof} {mark}",
    )
