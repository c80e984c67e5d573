"""Addresses of the study: participants' pages and the researcher's."""

from __future__ import annotations

from django.urls import path

from study.console import analysis_page, pages, report_page
from study.editor import freezing, studies
from study.editor.urls import design_urls
from study.exports import data_page, tokens_page
from study.monitor import entry_page, live_page, participants, replay_page
from study.operation import page as operation_page
from study.operation import probes
from study.planning import sample_size
from study.researchers import second_factor_page, security_page, sure
from study.taking_part import speaking, stored_page, views

app_name = "study"
urlpatterns = [
    path("health", probes.health, name="health"),
    path("ready", probes.ready, name="ready"),
    path("metrics", probes.metrics, name="metrics"),
    path("", views.home, name="home"),
    path("s/<slug:slug>/", views.enter, name="enter"),
    path("s/<slug:slug>/stored/", stored_page.stored, name="stored"),
    path("language/", speaking.choose, name="language"),
    path("p/<slug:key>/", views.participant, name="participant"),
    path("p/<slug:key>/here/", views.here, name="here"),
    path("p/<slug:key>/lobby/", views.lobby, name="lobby"),
    path("p/<slug:key>/withdraw/", views.withdraw, name="withdraw"),
    path("staff/", pages.index, name="staff"),
    path("staff/account/password/", sure.password, name="staff-password"),
    path("staff/account/second-factor/", second_factor_page.second_factor, name="staff-second-factor"),
    path("staff/tokens/", tokens_page.tokens, name="tokens"),
    path("staff/security-events/", security_page.security_events, name="security-events"),
    path("staff/sample-size/", sample_size.sample_size, name="sample-size"),
    path("staff/sample-size/power.svg", sample_size.power_figure, name="power-figure"),
    path("staff/well/", operation_page.well, name="staff-well"),
    path("staff/replay/", replay_page.replay_opened, name="staff-replay-opened"),
    path("staff/new/", studies.new, name="staff-new"),
    path("staff/<slug:slug>/", pages.detail, name="staff-study"),
    path("staff/<slug:slug>/sample-size/", sample_size.study_sample_size, name="sample-size"),
    path("staff/<slug:slug>/live/", live_page.live_page, name="staff-live"),
    path("staff/<slug:slug>/replay/<uuid:episode>/", replay_page.replay, name="staff-replay"),
    path("staff/<slug:slug>/replay/<uuid:episode>.json", replay_page.replay_file, name="staff-replay-file"),
    path(
        "staff/<slug:slug>/replay/<uuid:episode>/timeline.<str:ending>",
        replay_page.replay_timeline,
        name="staff-replay-timeline",
    ),
    path("staff/<slug:slug>/entry/", entry_page.entry, name="staff-entry"),
    path("staff/<slug:slug>/entry/go-on/", entry_page.entry_go_on, name="staff-entry-go-on"),
    path("staff/<slug:slug>/participants/", participants.participants, name="staff-participants"),
    path(
        "staff/<slug:slug>/participants/<slug:code>/",
        participants.participant,
        name="staff-participants-one",
    ),
    path(
        "staff/<slug:slug>/participants/<slug:code>/act/",
        participants.act,
        name="staff-participants-act",
    ),
    path(
        "staff/<slug:slug>/participants/<slug:code>/erase/",
        participants.erase,
        name="staff-participants-erase",
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
    path(
        "staff/<slug:slug>/preregistration/<int:number>.zip",
        freezing.handed,
        name="staff-preregistration-handed",
    ),
    path("staff/<slug:slug>/data/", data_page.data, name="staff-data"),
    path("staff/<slug:slug>/data/<str:name>", data_page.data_file, name="data-file"),
    path("staff/<slug:slug>/analysis/", analysis_page.analysis, name="staff-analysis"),
    path("staff/<slug:slug>/analysis/report/", report_page.report, name="staff-analysis-report"),
    path("staff/<slug:slug>/analysis/report.html", report_page.report_html, name="report-html"),
    path("staff/<slug:slug>/analysis/report.pdf", report_page.report_pdf, name="report-pdf"),
    path("staff/<slug:slug>/analysis/<slug:measure>.svg", analysis_page.figure, name="figure"),
    path("staff/<slug:slug>/analysis/<str:table>", analysis_page.table_file, name="analysis-table"),
    path("staff/<slug:slug>/analysis/<slug:measure>/", analysis_page.figures, name="figures"),
    path(
        "staff/<slug:slug>/analysis/<slug:measure>/<str:name>", analysis_page.figure_file, name="figure-file"
    ),
]
