"""Addresses of the study: participants' pages and the researcher's."""

from __future__ import annotations

from django.urls import path

from study import staff, staff_data, staff_live, staff_participants, staff_sample_size, staff_tokens, views
from study.console import freezing, studies
from study.console.urls import design_urls

app_name = "study"
urlpatterns = [
    path("", views.home, name="home"),
    path("s/<slug:slug>/", views.enter, name="enter"),
    path("p/<slug:key>/", views.participant, name="participant"),
    path("p/<slug:key>/here/", views.here, name="here"),
    path("p/<slug:key>/withdraw/", views.withdraw, name="withdraw"),
    path("staff/", staff.index, name="staff"),
    path("staff/tokens/", staff_tokens.tokens, name="tokens"),
    path("staff/sample-size/", staff_sample_size.sample_size, name="sample-size"),
    path("staff/sample-size/power.svg", staff_sample_size.power_figure, name="power-figure"),
    path("staff/new/", studies.new, name="staff-new"),
    path("staff/<slug:slug>/", staff.detail, name="staff-study"),
    path("staff/<slug:slug>/sample-size/", staff_sample_size.study_sample_size, name="sample-size"),
    path("staff/<slug:slug>/live/", staff_live.live_page, name="staff-live"),
    path("staff/<slug:slug>/participants/", staff_participants.participants, name="staff-participants"),
    path(
        "staff/<slug:slug>/participants/<slug:code>/",
        staff_participants.participant,
        name="staff-participants-one",
    ),
    path(
        "staff/<slug:slug>/participants/<slug:code>/act/",
        staff_participants.act,
        name="staff-participants-act",
    ),
    *design_urls("staff/<slug:slug>/design/"),
    path("staff/<slug:slug>/preregistration/", freezing.preregistration, name="staff-preregistration"),
    path("staff/<slug:slug>/preregistration/freeze/", freezing.freeze, name="staff-preregistration-freeze"),
    path(
        "staff/<slug:slug>/preregistration/<int:number>/",
        freezing.readable,
        name="staff-preregistration-readable",
    ),
    path(
        "staff/<slug:slug>/preregistration/<int:number>.json",
        freezing.bundle,
        name="staff-preregistration-bundle",
    ),
    path("staff/<slug:slug>/data/", staff_data.data, name="staff-data"),
    path("staff/<slug:slug>/data/<str:name>", staff_data.data_file, name="data-file"),
    path("staff/<slug:slug>/analysis/", staff.analysis, name="staff-analysis"),
    path("staff/<slug:slug>/analysis/<slug:measure>.svg", staff.figure, name="figure"),
]
