"""How many begin from one network address, and ask about names: counted in the cache, which all processes
share, without the address itself."""

from __future__ import annotations

import logging
import time

from django.core.cache import cache
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from kitchen.machine.client_address import client_address, network_of
from study.design.models import Study
from study.design.recruitment import Referral

log = logging.getLogger(__name__)

WINDOW_SECONDS = 600
MINUTE = 60
SHARE = 5
"""As many entries of one network within a minute count towards a pause."""
SALT = "brigade.entries"
NAMES = 60
"""That one network may ask about within a minute: the page tells whether somebody of this name takes part, or
did."""


def too_many_from(request: HttpRequest, study: Study) -> bool:
    """Whether as many as the study allows have begun from where this request comes; it is counted itself.

    Programs of this machine are not counted: nobody reaches loopback from elsewhere, and behind a proxy
    people have the address that it forwards. Those whose address cannot be read are counted together. While
    the cache is away nobody is turned away.
    """
    most, name = study.entries_per_address, _network(request, study)
    return most is not None and bool(name) and _count(f"entries:{name}", WINDOW_SECONDS) > most


def asks_too_much(request: HttpRequest, study: Study, referral: Referral) -> bool:
    """Whether more names were asked about from where this request comes than may be; it is counted itself,
    unless the link has no name, or is signed."""
    if not referral.label or referral.vouched:
        return False
    name = _network(request, study)
    return bool(name) and _count(f"names:{name}", MINUTE) > NAMES


def entered_beside(request: HttpRequest, study: Study) -> int:
    """How many entries of this minute and the one before do not count towards a pause, since their network
    had sent its share: else whoever has two addresses could keep a study shut. This entry is counted."""
    name, minute = _network(request, study), int(time.time()) // MINUTE
    if name and _count(f"share:{name}", MINUTE) > SHARE:
        _count(f"beside:{study.pk}:{minute}", 2 * MINUTE)
    return sum(_counted(f"beside:{study.pk}:{one}") for one in (minute, minute - 1))


def _network(request: HttpRequest, study: Study) -> str:
    """A name for where a request comes from, in this study only; empty for this machine."""
    address = client_address(request)
    if address is not None and address.is_loopback:
        return ""
    network = network_of(address) if address else "unknown"
    return salted_hmac(SALT, f"{study.pk} {network}", algorithm="sha256").hexdigest()


def _count(key: str, seconds: int) -> int:
    """One more; how many it are within the window. 0 while nobody can count."""
    from redis.exceptions import RedisError  # takes a second to import

    try:
        cache.add(key, 0, seconds)
        return int(cache.incr(key))
    except (RedisError, OSError, ValueError) as error:  # ValueError: the window was over at this very moment
        log.warning("entries from an address are not counted: %s", type(error).__name__)
        return 0


def _counted(key: str) -> int:
    """How many it were; 0 while nobody knows."""
    from redis.exceptions import RedisError  # takes a second to import

    try:
        return int(cache.get(key, 0))
    except (RedisError, OSError):
        return 0
