"""What programs ask: `/health`, `/ready` and `/metrics`. No session, no cookie, no participant in them."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from kitchen.machine.client_address import client_address
from kitchen.machine.readiness import missing
from study.operation.figures import exposition


@never_cache
@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """200 as long as this process can answer at all; asks neither database nor Redis."""
    return HttpResponse("alive\n", content_type="text/plain")


@never_cache
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """200 if people can be sent here, or 503 and what is missing."""
    lacks = missing()
    return JsonResponse({"ready": not lacks, "missing": lacks}, status=503 if lacks else 200)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """All figures, for a program of this machine or one that knows the token; PermissionDenied."""
    if not (_from_here(request) or _knows_token(request)):
        raise PermissionDenied
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def _from_here(request: HttpRequest) -> bool:
    """Not through a web server of this machine: what it forwards comes from elsewhere."""
    forwarded = {"HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_FORWARDED", "HTTP_VIA"}
    address = client_address(request)
    return address is not None and address.is_loopback and not forwarded & request.META.keys()


def _knows_token(request: HttpRequest) -> bool:
    given = request.headers.get("Authorization", "")
    wanted = f"Bearer {settings.METRICS_TOKEN}"
    return bool(settings.METRICS_TOKEN) and constant_time_compare(given, wanted)
