"""In which language a page is shown before anybody has asked a study: pages of staff in English, all others
in what the browser asks for, so that a page about what went wrong can be read. Participants' pages know
better (`study.taking_part.speaking`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, parse_cookie
from django.utils import translation
from django.utils.cache import patch_vary_headers

from brigade.limits import OF_OTHERS

ENGLISH = "en"


def in_their_language(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: whatever is activated meanwhile ends with the answer, which no cache gives to readers of
    another language."""

    def answer(request: HttpRequest) -> HttpResponse:
        with translation.override(language_of(request)):
            response = get_response(request)
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        return response

    return answer


def language_of(request: HttpRequest) -> str:
    """What this request is answered in until somebody knows better."""
    if request.path.startswith(OF_OTHERS):
        return ENGLISH
    return translation.get_language_from_request(request)


def language_of_head(scope: Mapping[str, Any]) -> str:
    """As `language_of`, of a request that Django has not read."""
    said = {name: value.decode("latin-1") for name, value in scope["headers"]}
    request = HttpRequest()
    request.path = request.path_info = scope["path"]
    request.META["HTTP_ACCEPT_LANGUAGE"] = said.get(b"accept-language", "")
    request.COOKIES = parse_cookie(said.get(b"cookie", ""))
    return language_of(request)
