"""Call Prolific's API: studies, submissions and bonus payments.

The token comes from the environment (`BRIGADE_PROLIFIC_TOKEN`) and is never stored or shown. Requests that
change nothing are repeated after an error of the server or a time-out. Requests that change something are
repeated only when Prolific says that it did not accept them (429).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
from django.conf import settings

from kitchen.contract.world import Json

TRIES = 4
WAIT_SECONDS = 1.0
"""The wait before the second try; it doubles with each further one."""
LONGEST_WAIT = 20.0
REQUEST_SECONDS = 20.0
MOST_PAGES = 200
LARGEST = 4_000_000
"""The most bytes of a reply."""
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
"""The form of an ID of Prolific. IDs of payments are UUIDs."""
CERTAIN = {400, 401, 403, 404, 405, 422, 429}
"""Statuses which say that Prolific did not do what it was asked."""


class ProlificError(Exception):
    """A call that did not work. The message is for staff. `unsure` is true if Prolific may have accepted it
    all the same."""

    def __init__(self, words: str, *, unsure: bool = False) -> None:
        super().__init__(words)
        self.unsure = unsure


@dataclass(frozen=True, slots=True)
class Submission:
    """A submission of one participant on Prolific, with its ID and status there."""

    id: str
    participant: str
    status: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class ProlificStudy:
    """A study as Prolific has it."""

    id: str
    name: str
    status: str
    places: int
    places_taken: int
    currency: str = ""
    """The currency of its rewards and bonuses, such as GBP. Empty if Prolific does not say it."""


class ProlificClient:
    """A client of Prolific's API. Tests give another address, `wait` and timeout."""

    def __init__(
        self,
        *,
        url: str = "",
        token: str = "",
        wait: Callable[[float], None] = time.sleep,
        seconds: float = REQUEST_SECONDS,
    ) -> None:
        self._url = (url or settings.PROLIFIC_API).rstrip("/")
        self._token = token or settings.PROLIFIC_TOKEN
        self._wait, self._seconds = wait, seconds

    def study(self, study: str) -> ProlificStudy:
        """Return a study by its ID."""
        told = self._call("GET", f"studies/{_id(study)}/")
        places, taken = told.get("total_available_places") or 0, told.get("places_taken") or 0
        currency = str(told.get("presentment_currency_code") or told.get("currency_code") or "").upper()
        return ProlificStudy(
            str(told.get("id")),
            str(told.get("name")),
            str(told.get("status")).upper().replace(" ", "-"),
            int(places),
            int(taken),
            currency,
        )

    def publish(self, study: str) -> None:
        """Publish a draft, so that people can take part."""
        self._call("POST", f"studies/{_id(study)}/transition/", {"action": "PUBLISH"})

    def set_places(self, study: str, places: int) -> None:
        """Set the number of places of a study. Prolific refuses a smaller number for a published study."""
        self._call("PATCH", f"studies/{_id(study)}/", {"total_available_places": places})

    def submissions(self, study: str) -> Iterator[Submission]:
        """Yield all submissions of a study."""
        path, query = f"studies/{_id(study)}/submissions/", "page_size=100"
        for _ in range(MOST_PAGES):
            told = self._call("GET", f"{path}?{query}")
            rows = told.get("results") or []
            for row in rows:
                if not isinstance(row, dict):
                    raise ProlificError("Prolific's answer cannot be read.")
                yield Submission(
                    str(row.get("id", "")),
                    str(row.get("participant_id", "")),
                    str(row.get("status", "")).upper().replace(" ", "-"),
                    str(row.get("study_code") or ""),
                )
            following = urlsplit(((told.get("_links") or {}).get("next") or {}).get("href") or "").query
            if not rows or following in ("", query):
                return
            query = following

    def approve(self, submission: str) -> None:
        """Approve a submission: Prolific pays the base reward."""
        self._call("POST", f"submissions/{_id(submission)}/transition/", {"action": "APPROVE"})

    def enter_code(self, submission: str, code: str) -> None:
        """Complete a submission by a completion code of the study, for example one that screens out. The code
        must be one that Prolific lets the researcher enter."""
        body = {"action": "COMPLETE", "completion_code": code}
        self._call("POST", f"submissions/{_id(submission)}/transition/", body)

    def reject(self, submission: str, *, category: str, message: str) -> None:
        """Reject a submission. The person reads the message."""
        body = {"action": "REJECT", "rejection_category": category, "message": message}
        self._call("POST", f"submissions/{_id(submission)}/transition/", body)

    def ask_return(self, submission: str, *, reason: str) -> None:
        """Ask the person to return a submission, with a reason."""
        self._call(
            "POST", f"submissions/{_id(submission)}/request-return/", {"request_return_reasons": [reason]}
        )

    def prepare_bonuses(self, study: str, lines: str) -> str:
        """Announce bonuses, as lines of ID and amount, and return the ID of the payment. No money moves."""
        body = {"study_id": _id(study), "csv_bonuses": lines}
        return _id(str(self._call("POST", "submissions/bonus-payments/", body).get("id")))

    def pay_bonuses(self, payment: str) -> None:
        """Pay announced bonuses. Prolific pays an announcement as often as it is asked, so ask once. Each
        answer of success counts, whatever its text."""
        self._call("POST", f"bulk-bonus-payments/{_id(payment)}/pay/", {}, reads=False)

    def _call(
        self, method: str, path: str, body: Mapping[str, Json] | None = None, *, reads: bool = True
    ) -> dict[str, Any]:
        """Return the reply as a mapping, which is empty unless `reads`. Raises ProlificError."""
        if not self._token:
            raise ProlificError("BRIGADE_PROLIFIC_TOKEN is not set.")
        safe, wait = method == "GET", WAIT_SECONDS
        for left in reversed(range(TRIES)):
            try:
                answer = self._send(method, path, body)
            except httpx2.HTTPError as error:
                if not (safe and left):
                    kind = type(error).__name__
                    raise ProlificError(f"Prolific did not answer ({kind}).", unsure=not safe) from None
                self._wait(wait)
            else:
                again = answer.status_code == 429 or (safe and answer.status_code >= 500)
                if not (again and left):
                    return _reply_content(answer, safe, reads)
                self._wait(min(_retry_after(answer) or wait, LONGEST_WAIT))
            wait *= 2
        raise AssertionError("the last try returns or raises")

    def _send(self, method: str, path: str, body: Mapping[str, Json] | None) -> httpx2.Response:
        headers = {"Authorization": f"Token {self._token}"}
        with httpx2.Client(timeout=self._seconds, follow_redirects=False) as client:
            return client.request(method, f"{self._url}/{path}", json=body, headers=headers)


def _reply_content(answer: httpx2.Response, safe: bool, reads: bool) -> dict[str, Any]:
    status = answer.status_code
    if 200 <= status < 300 and not reads:
        return {}
    if 200 <= status < 300 and len(answer.content) <= LARGEST:
        try:
            told = answer.json() if answer.content else {}
        except ValueError:
            told = None
        if isinstance(told, dict):
            return told
        raise ProlificError("Prolific's answer cannot be read.", unsure=not safe)
    words = {
        401: "Prolific does not accept the token (BRIGADE_PROLIFIC_TOKEN).",
        403: "The token may not do this.",
        404: "Prolific does not know this study or submission.",
        429: "Prolific asks to slow down. Try again later.",
    }
    unsure = not safe and status not in CERTAIN
    raise ProlificError(words.get(status, f"Prolific refused this ({status})."), unsure=unsure)


def _retry_after(answer: httpx2.Response) -> float:
    given = answer.headers.get("Retry-After", "")
    return float(given) if given.isdecimal() and len(given) < 6 else 0.0


def _id(value: str) -> str:
    """Return the ID. Raises ProlificError if it could not be one, so that it cannot lead elsewhere."""
    if not ID.fullmatch(value):
        raise ProlificError("This is not an ID of Prolific: letters, digits and hyphens only.")
    return value
