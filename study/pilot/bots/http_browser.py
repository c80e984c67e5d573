"""Open web pages for synthetic participants (programs): keep cookies, parse pages, and send forms.

Requests are repeated while the server is unavailable. Errors::

    Exception
    └── WalkError           this participant cannot continue; the message is one line
        └── PatienceError   this participant has waited too long without progress
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from types import TracebackType
from typing import Self
from urllib.parse import urljoin, urlsplit

import httpx2

CODE_ID = "completion-code"
"""HTML id of the completion code on the last page."""
LEAVING = "/withdraw/"
"""End of the address of the withdrawal page."""

Sent = str | list[str]
"""Value sent in one field; several checkboxes of one name are a list."""


OWN_KINDS = frozenset({"own", "own-asked", "break"})
"""Kinds of pages that researchers wrote."""


@dataclass(slots=True)
class Field:
    """One named field or button of a form.

    `choices` are the possible values of a group of radio buttons or checkboxes, of a select or of a button.
    `value` is sent by default; None sends nothing.
    """

    name: str
    kind: str
    value: str | None = None
    choices: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Form:
    """One HTML form. `action` is the address in the HTML. It is empty if the form is sent to the page's
    own address."""

    action: str
    method: str
    fields: dict[str, Field] = field(default_factory=dict)

    def filled(self, answers: Mapping[str, Sent]) -> dict[str, Sent]:
        """Return the data to send: the default values, replaced by `answers` (by field name).

        Raises KeyError if a name is not in the form.
        """
        unknown = answers.keys() - self.fields.keys()
        if unknown:
            raise KeyError(", ".join(sorted(unknown)))
        return {
            name: value
            for name, one in self.fields.items()
            if (value := answers.get(name, one.value)) is not None
        }

    def of_kind(self, *kinds: str) -> list[Field]:
        """Return the form's fields of these kinds (such as `radio`), in the order of the page."""
        return [one for one in self.fields.values() if one.kind in kinds]


@dataclass(slots=True)
class WalkedPage:
    """One received page, with the parts of its HTML that a synthetic participant needs."""

    url: str
    status: int
    kind: str = ""
    """`data-page` of its main part; empty if it has none."""
    forms: list[Form] = field(default_factory=list)
    """The forms posted to the page's own address, without the language form."""
    socket: str = ""
    """Address of its websocket; empty if it has none."""
    has_slider: bool = False
    """True if a slider is beside the game."""
    leave: str = ""
    """Address of its withdrawal link; empty if it has none."""
    code: str = ""
    errors: str = ""
    """Text of its alerts."""

    @property
    def name(self) -> str:
        """Return the page's name in the data. Pages that researchers wrote have names of their own, which
        their forms send."""
        sent = self.forms[0].fields.get("page") if self.forms and self.kind in OWN_KINDS else None
        return (sent and sent.value) or self.kind

    @property
    def form(self) -> Form:
        """Return the first form of the page. Raises WalkError if it has none."""
        if not self.forms:
            raise self.error(f"this page ({self.kind}) has no form to send")
        return self.forms[0]

    def error(self, words: str) -> WalkError:
        """Return, without raising it, a WalkError with this page's address and the message `words`."""
        return WalkError(f"{printable_url(self.url)}: {words}")


def read_page(html: str, *, url: str, status: int) -> WalkedPage:
    """Parse HTML into a page. `url` and `status` are the address and the HTTP status of the response."""
    reader = _Reader(WalkedPage(url, status))
    reader.feed(html)
    reader.close()
    page = reader.page
    page.forms = [form for form in page.forms if form.method == "post" and not form.action]
    page.code, page.errors = page.code.strip(), " ".join(page.errors.split())
    return page


class _Reader(HTMLParser):
    """Collects from HTML what `WalkedPage` holds."""

    def __init__(self, page: WalkedPage) -> None:
        super().__init__(convert_charrefs=True)
        self.page = page
        self.form: Form | None = None
        self.select: Field | None = None
        self.into = ""
        """The page attribute that takes the current text; `depth` is the number of tags to its end."""
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.page.kind = attributes.get("data-page", "") or self.page.kind
        self.page.socket = attributes.get("ws-connect", "") or self.page.socket
        self.page.has_slider |= "data-rating-slider" in attributes
        self._listen(tag, attributes)
        if tag == "a" and attributes.get("href", "").endswith(LEAVING):
            self.page.leave = attributes["href"]
        if tag == "form":
            self.form = Form(attributes.get("action", ""), attributes.get("method", "get").lower())
            self.page.forms.append(self.form)
        elif self.form is not None:
            self._field(self.form, tag, attributes)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None
        elif tag == "select":
            self.select = None
        if self.into and tag not in VOID:
            self.depth -= 1
            self.into = self.into if self.depth else ""

    def handle_data(self, data: str) -> None:
        if self.into:
            setattr(self.page, self.into, f"{getattr(self.page, self.into)} {data}")

    def _listen(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin to collect the text inside this HTML tag, if the tag marks the completion code or an
        alert."""
        if tag in VOID:
            return
        if self.into:
            self.depth += 1
        elif attributes.get("id") == CODE_ID or attributes.get("role") == "alert":
            self.into, self.depth = "code" if attributes.get("id") == CODE_ID else "errors", 1

    def _field(self, form: Form, tag: str, attributes: Mapping[str, str]) -> None:
        name = attributes.get("name", "")
        if tag == "option" and self.select is not None:
            _option(self.select, attributes)
        elif not name or "disabled" in attributes:
            return
        elif tag == "input":
            _input(form, name, attributes)
        elif tag == "button" and attributes.get("type", "submit") == "submit":
            form.fields.setdefault(name, Field(name, "submit")).choices.append(attributes.get("value", ""))
        elif tag == "select":
            self.select = form.fields.setdefault(name, Field(name, "select"))
        elif tag == "textarea":
            form.fields[name] = Field(name, "textarea", "")


def _input(form: Form, name: str, attributes: Mapping[str, str]) -> None:
    kind = attributes.get("type", "text").lower()
    value = attributes.get("value", "on" if kind in {"radio", "checkbox"} else "")
    if kind in {"radio", "checkbox"}:
        group = form.fields.setdefault(name, Field(name, kind))
        group.choices.append(value)
        group.value = value if "checked" in attributes else group.value
    elif kind not in {"submit", "button", "image", "reset", "file"}:
        form.fields[name] = Field(name, kind, value)


def _option(select: Field, attributes: Mapping[str, str]) -> None:
    value = attributes.get("value", "")
    select.choices.append(value)
    if "selected" in attributes or select.value is None:
        select.value = value


VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "source", "wbr"})
"""Tags without an end tag."""

PAUSES = (0.2, 0.5, 1.0, 2.0)
"""Seconds between attempts; the last value repeats."""


class WalkError(Exception):
    """Raised if a synthetic participant cannot continue. The message is one line."""


class PatienceError(WalkError):
    """Raised if a synthetic participant has waited too long without progress. `why` says what the
    participant waited for."""

    def __init__(self, why: str, waited: float) -> None:
        super().__init__(f"nothing moved for {waited:.0f} s: {why}")
        self.why = why


class PatienceLimit:
    """Limits how long one synthetic participant waits without progress."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.place: object = None
        self.retries = 0
        """Number of retries in the whole walkthrough."""
        self._since = time.monotonic()
        self._tries = 0

    def moved(self, place: object) -> None:
        """Restart the time limit if `place` differs from the last call: the participant has then made
        progress."""
        if place != self.place:
            self.place = place
            self._since = time.monotonic()
            self._tries = 0

    def check(self, why: str) -> None:
        """Raise PatienceError if the participant has waited longer than the limit. `why` says what the
        participant waits for."""
        waited = time.monotonic() - self._since
        if waited > self.seconds:
            raise PatienceError(why, waited)

    async def pause(self, why: str) -> None:
        """Sleep before a retry. Each pause is a little longer than the one before. Raises PatienceError if
        the time limit is used up. `why` says what the participant waits for."""
        self.check(why)
        self.retries += 1
        await asyncio.sleep(PAUSES[min(self._tries, len(PAUSES) - 1)])
        self._tries += 1


REQUEST_SECONDS = 20.0
"""Longest duration of one request in seconds before it is retried."""


class Browser:
    """The HTTP client of one synthetic participant.

    It uses no proxy. It trusts the certificates in SSL_CERT_FILE, if set, as websockets do. Tests pass
    another `transport`.
    """

    def __init__(self, patience: PatienceLimit, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self.patience = patience
        self.client = httpx2.AsyncClient(
            follow_redirects=True,
            timeout=REQUEST_SECONDS,
            trust_env=False,
            verify=httpx2.create_ssl_context(),
            headers={"Accept": "text/html"},
            transport=transport,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.client.aclose()

    async def open(self, url: str) -> WalkedPage:
        """Request the address and return its page. The request is repeated while the server is
        unavailable. Raises WalkError if the server refuses the request, or PatienceError if the server is
        unavailable for too long."""
        return await self._page("GET", url)

    async def send(self, page: WalkedPage, answers: Mapping[str, Sent]) -> WalkedPage:
        """Send the page's form with these answers by field name, and return the next page. If the form was
        not accepted, return the same page with `errors`.

        If the reply was lost, the form is sent again; the server accepts it only once. Raises the errors of
        `open`, and WalkError for a name that the form lacks.
        """
        headers = {"Origin": origin(page.url), "Referer": page.url}
        try:
            data = page.form.filled(answers)
        except KeyError as error:
            raise WalkError(f"the form of {printable_url(page.url)} has no field {error.args[0]}") from error
        return await self._page("POST", page.url, data=data, headers=headers)

    async def _page(
        self,
        method: str,
        url: str,
        data: Mapping[str, Sent] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> WalkedPage:
        while True:
            try:
                response = await self.client.request(method, url, data=data, headers=headers)
            except httpx2.TransportError as error:
                why = f"{printable_url(url)}: {type(error).__name__} {error}".strip()
            except (httpx2.RequestError, httpx2.InvalidURL) as error:
                raise WalkError(f"{printable_url(url)}: {type(error).__name__} {error}") from error
            else:
                if response.status_code < 500:
                    return _read(response)
                why = f"{printable_url(url)}: the server answered {response.status_code}"
            await self.patience.pause(why)


def _read(response: httpx2.Response) -> WalkedPage:
    page = read_page(response.text, url=str(response.url), status=response.status_code)
    if response.status_code >= 400 and not page.kind:
        raise page.error(f"the server answered {response.status_code}")
    return page


def origin(url: str) -> str:
    """Return the scheme, host and port of an address, as in the `Origin` header."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def path_of(url: str) -> str:
    """Return the path of an address, such as `/s/demo/`."""
    return urlsplit(url).path


def printable_url(url: str) -> str:
    """Return the address without its query, because the query may contain the secret invitation."""
    return url.partition("?")[0]


def socket_url(page: WalkedPage) -> str:
    """Return the complete `ws:` or `wss:` address of the page's websocket."""
    url = urljoin(page.url, page.socket)
    return "ws" + url.removeprefix("http")
