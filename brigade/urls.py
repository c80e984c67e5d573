"""Every address: the study's pages, the admin; and the pages of errors."""

from __future__ import annotations

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import include, path

from brigade import errors
from study.admin.login import StaffLoginForm
from study.exports.api import api
from study.exports.tokens_page import api_page

admin.site.site_header = "Brigade"
admin.site.site_title = "Brigade"
admin.site.index_title = "Studies and what they are made of"
admin.site.site_url = "/staff/"
admin.site.login_form = StaffLoginForm


def nothing_here(request: HttpRequest, rest: str) -> HttpResponse:
    """Django's "view on site" would lead any member of staff to participants' secret links: closed."""
    raise Http404(rest)


urlpatterns = [
    path("admin/r/<path:rest>", nothing_here),
    path("admin/", admin.site.urls),
    path("api/", api_page, name="api-page"),
    path("api/", api.urls),
    path("", include("study.urls")),
]

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.page_not_found
handler500 = errors.server_error
