"""Names that a study cannot have in its link: those of the researcher's own pages."""

from __future__ import annotations

STAFF = "staff/"


def reserved_slugs() -> frozenset[str]:
    """What stands in a study's place in an address of `study.urls`, such as `new` in `/staff/new/`."""
    from study.urls import urlpatterns  # its pages import the models, which ask this

    tails = (
        str(one.pattern).removeprefix(STAFF) for one in urlpatterns if str(one.pattern).startswith(STAFF)
    )
    firsts = (tail.partition("/")[0] for tail in tails)
    return frozenset(first for first in firsts if first and not first.startswith("<"))
