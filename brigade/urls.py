"""Map the URLs of the whole site to views: study pages, the API, the Django admin, and error pages."""

from __future__ import annotations

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import include, path

from brigade import error_pages
from study.exports.data_and_token_pages import api_page
from study.exports.export_api import api
from study.researchers.staff_login import StaffLoginForm

admin.site.site_header = "Brigade"
admin.site.site_title = "Brigade"
admin.site.index_title = "Studies and what they are made of"
admin.site.site_url = "/staff/"
admin.site.login_form = StaffLoginForm


def nothing_here(request: HttpRequest, rest: str) -> HttpResponse:
    """Return 404 in place of Django's “view on site”, which would show participants' secret links to all
    staff."""
    raise Http404(rest)


urlpatterns = [
    path("admin/r/<path:rest>", nothing_here),
    path("admin/", admin.site.urls),
    path("api/", api_page, name="api-page"),
    path("api/", api.urls),
    path("", include("study.urls")),
]

handler400 = error_pages.bad_request
handler403 = error_pages.permission_denied
handler404 = error_pages.page_not_found
handler500 = error_pages.server_error
