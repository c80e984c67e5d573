"""How many begin from one network address: counted in the cache, without the address itself."""

from __future__ import annotations

import logging

from django.core.cache import cache
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from kitchen.machine.client_address import client_address, network_of
from study.design.models import Study

log = logging.getLogger(__name__)

WINDOW_SECONDS = 600
SALT = "brigade.entries"


def too_many_from(request: HttpRequest, study: Study) -> bool:
    """Whether as many as the study allows have begun from where this request comes; it is counted itself.

    Programs of this machine are not counted: nobody reaches loopback from elsewhere, and behind a proxy
    people have the address that it forwards. While the cache is away nobody is turned away.
    """
    address, most = client_address(request), study.entries_per_address
    if most is None or address is None or address.is_loopback:
        return False
    name = salted_hmac(SALT, f"{study.pk} {network_of(address)}", algorithm="sha256").hexdigest()
    return _count(f"entries:{name}") > most


def _count(key: str) -> int:
    """One more; how many it are within the window. 0 while nobody can count."""
    from redis.exceptions import RedisError  # takes a second to import

    try:
        cache.add(key, 0, WINDOW_SECONDS)
        return int(cache.incr(key))
    except (RedisError, OSError, ValueError) as error:  # ValueError: the window was over at this very moment
        log.warning("entries from an address are not counted: %s", type(error).__name__)
        return 0
