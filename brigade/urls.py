"""Every address: the study's pages, the admin."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

admin.site.site_header = "Brigade"
admin.site.site_title = "Brigade"
admin.site.index_title = "Studies and what they are made of"
admin.site.site_url = "/staff/"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("study.urls")),
]
