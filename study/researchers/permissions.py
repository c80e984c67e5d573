"""Define the roles and rights of staff in a study. Pages, websockets, files and the admin check rights here.

- `copy`: see the design and copy it into a new study.
- `view`: see the study and its participants.
- `results`: see which conditions participants have, and their data. A study can conceal this from everybody
  but its owners, until an owner shows it again.
- `edit`: change the design, and act on participants.
- `own`: manage members, freeze the design, and delete the study.

Superusers have every right in every study.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Concatenate

from django.contrib.auth.decorators import user_passes_test
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from kitchen.play.models import Episode
from study.design.models import Study
from study.participants.models import Participant, Round
from study.researchers.models import Membership
from study.researchers.second_factor import lacks_factor

RIGHTS: dict[str, frozenset[str]] = {
    Membership.Role.OWNER: frozenset({"copy", "view", "results", "edit", "own"}),
    Membership.Role.COLLABORATOR: frozenset({"copy", "view", "results", "edit"}),
    Membership.Role.VIEWER: frozenset({"copy", "view", "results"}),
}
"""Rights by role. A shared study also gives `copy` to all staff."""

READ_METHODS = ("GET", "HEAD")
FORM_METHODS = ("GET", "HEAD", "POST")
Checked = Callable[..., HttpResponseBase]
for_staff = user_passes_test(lambda user: user.is_active and user.is_staff, login_url="admin:login")
"""Redirect users who are not logged in as staff to the login, and back afterwards."""
StudyView = Callable[Concatenate[HttpRequest, Study, ...], HttpResponseBase]


def rights_in(user: Any, study: Study) -> frozenset[str]:
    """Return all rights of this user in this study."""
    if not _is_let_in(user):
        return frozenset()
    if user.is_superuser:
        return RIGHTS[Membership.Role.OWNER]
    role = Membership.objects.filter(study=study, user=user).values_list("role", flat=True).first()
    rights = RIGHTS.get(role or "", frozenset())
    if "own" not in rights and Study.objects.filter(pk=study.pk, conceals_allocation=True).exists():
        rights -= {"results"}
    return rights | (frozenset({"copy"}) if study.shared else frozenset())


def _is_let_in(user: Any) -> bool:
    """Return True if the user is active staff. If the installation requires a second factor, the user must
    also have one."""
    return bool(user.is_active and user.is_staff and not lacks_factor(user))


def is_concealed_from(user: Any, study: Study) -> bool:
    """Return whether the study conceals participants' conditions and groups from this user.

    Closing the study or ending participations changes nothing, because collaborators may do both. Only an
    owner shows the conditions again.
    """
    return study.conceals_allocation and not has_right(user, study, "own")


def has_right(user: Any, study: Study, right: str) -> bool:
    """Return whether this user has this right in this study."""
    return right in rights_in(user, study)


def studies_for(user: Any, right: str = "view") -> QuerySet[Study]:
    """Return the studies in which this user has this right."""
    if not _is_let_in(user):
        return Study.objects.none()
    if user.is_superuser:
        return Study.objects.all()
    roles = [role for role, rights in RIGHTS.items() if right in rights]
    mine = Membership.objects.filter(user=user, role__in=roles)
    if right == "results":
        mine = mine.filter(Q(role=Membership.Role.OWNER) | Q(study__conceals_allocation=False))
    theirs = mine.values("study")
    return Study.objects.filter(Q(pk__in=theirs) | (Q(shared=True) if right == "copy" else Q(pk=None)))


def episodes_for(user: Any) -> QuerySet[Episode]:
    """Return the episodes, including practice, of the studies whose results this user may see."""
    people = Participant.objects.filter(study__in=studies_for(user, "results").values("pk"))
    played = Round.objects.filter(participant__in=people.values("pk")).values("episode")
    practised = Q(pk__in=people.values("practice")) | Q(pk__in=people.values("first_practice"))
    practised |= Q(pk__in=people.values("warm_up"))
    return Episode.objects.filter(Q(pk__in=played) | practised)


def study_page(
    right: str, methods: Iterable[str] = READ_METHODS, *, to_send: str = ""
) -> Callable[[StudyView], Checked]:
    """Return a decorator for a page about one study. The user needs the right `right`. For POST requests, the
    right `to_send` is needed instead, if it is given.

    The view receives the study instead of the `slug`. Users who are not logged in are redirected to the
    login. Users without the right get a 403 page.
    """

    def guarded(view: StudyView) -> Checked:
        @wraps(view)
        def checked(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
            study = get_object_or_404(Study, slug=slug)
            needed = {right, to_send or right} if request.method == "POST" else {right}
            if not needed <= rights_in(request.user, study):
                raise PermissionDenied
            return view(request, study, *args, **kwargs)

        return _says(staff_page(methods)(checked), right, to_send)

    return guarded


STAFF, SUPERUSERS = "staff", "superusers"
"""Values of `opens_for` for pages about no study. Pages about a study record the required right."""


def staff_page(methods: Iterable[str] = READ_METHODS) -> Callable[[Checked], Checked]:
    """Return a decorator for a page that all staff may open. Its responses are never cached."""

    def guarded(view: Checked) -> Checked:
        return _says(never_cache(for_staff(require_http_methods([*methods])(view))), STAFF)

    return guarded


def superuser_page(methods: Iterable[str] = READ_METHODS) -> Callable[[Checked], Checked]:
    """Return a decorator for a page that only superusers may open. Other staff get a 403 page."""

    def guarded(view: Checked) -> Checked:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_superuser:
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return _says(staff_page(methods)(checked), SUPERUSERS)

    return guarded


def _says(page: Checked, whom: str, to_send: str = "") -> Checked:
    """Return the view `page`, after storing on it who may open it (`whom`) and who may send its form
    (`to_send`)."""
    page.opens_for, page.taken_from = whom, to_send or whom  # type: ignore[attr-defined]
    return page
