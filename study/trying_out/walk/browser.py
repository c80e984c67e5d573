"""A browser without a screen: cookies, pages, forms. Tries again while the server is away."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Self
from urllib.parse import urljoin, urlsplit

import httpx2

from study.trying_out.walk.pages import Form, Sent, WalkedPage, read_page
from study.trying_out.walk.patience import Patience, WalkError

REQUEST_SECONDS = 20.0
"""How long one request may take before it is tried again."""


class Browser:
    """One person's. It goes straight to the server, past any proxy, unless it is given another transport. As
    websockets do, it trusts the certificates in SSL_CERT_FILE, if that is set."""

    def __init__(self, patience: Patience, transport: httpx2.AsyncBaseTransport | None = None) -> None:
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
        """The page at this address; WalkError if the server has none for us."""
        return await self._page("GET", url)

    async def send(self, page: WalkedPage, form: Form, answers: Mapping[str, Sent]) -> WalkedPage:
        """The page that comes after the form; the same one with `errors` where it was not accepted.

        A form may go out twice when the first answer was lost: the server takes it once.
        """
        headers = {"Origin": origin(page.url), "Referer": page.url}
        try:
            data = form.filled(answers)
        except KeyError as error:
            raise WalkError(f"the form of {shown(page.url)} has no field {error.args[0]}") from error
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
                why = f"{shown(url)}: {type(error).__name__} {error}".strip()
            except (httpx2.RequestError, httpx2.InvalidURL) as error:
                raise WalkError(f"{shown(url)}: {type(error).__name__} {error}") from error
            else:
                if response.status_code < 500:
                    return _read(response)
                why = f"{shown(url)}: the server answered {response.status_code}"
            await self.patience.pause(why)


def _read(response: httpx2.Response) -> WalkedPage:
    page = read_page(response.text, url=str(response.url), status=response.status_code)
    if response.status_code >= 400 and not page.kind:
        raise WalkError(f"{shown(page.url)}: the server answered {response.status_code}")
    return page


def origin(url: str) -> str:
    """Scheme, host and port, as a browser says where it comes from."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def path_of(url: str) -> str:
    """The address within its server."""
    return urlsplit(url).path


def shown(url: str) -> str:
    """The address as far as it may be printed: the invitation is left out."""
    return url.partition("?")[0]


def socket_url(page: WalkedPage) -> str:
    """The full address of a page's websocket."""
    url = urljoin(page.url, page.socket)
    return "ws" + url.removeprefix("http")
