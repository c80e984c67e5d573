"""Map the URLs of the app `study` to views: participants' pages and staff pages."""

from __future__ import annotations

from django.urls import path

from study.console import analysis_pages, figure_text_page, study_overview_pages
from study.editor import manage_study_pages, policy_file_pages, preregistration_pages, study_file_pages
from study.editor.urls import design_urls
from study.exports import data_and_token_pages, dataset_pages
from study.monitor import (
    annotation_pages,
    annotation_panel,
    break_pages,
    episode_exclusion,
    import_pages,
    live_study_page,
    participant_list_page,
    participant_pages,
    payment_pages,
    prolific_page,
    replay_page,
    replay_sound,
)
from study.operation import health_endpoints, installation_status
from study.participation import entry_round_trip, language_choice, views
from study.participation.pages import end_and_privacy_pages, end_card_page, last_seconds_page, media_page
from study.planning import sample_size_page
from study.researchers import invitation_pages, reauthenticate, security_pages

app_name = "study"
urlpatterns = [
    path("health", health_endpoints.health, name="health"),
    path("ready", health_endpoints.ready, name="ready"),
    path("metrics", health_endpoints.metrics, name="metrics"),
    path("", views.home, name="home"),
    path("s/<slug:slug>/", views.enter, name="enter"),
    path("round-trip/", entry_round_trip.answer, name="round-trip"),
    path("s/<slug:slug>/stored/", end_and_privacy_pages.stored_data_page, name="stored"),
    path("language/", language_choice.choose_language, name="language"),
    path("p/<slug:key>/", views.participant, name="participant"),
    path("p/<slug:key>/here/", views.still_here, name="here"),
    path("p/<slug:key>/last-seconds/", last_seconds_page.last_seconds, name="last-seconds"),
    path("p/<slug:key>/result/<int:position>/", end_card_page.end_card, name="end-card"),
    path("p/<slug:key>/lobby/", views.lobby_signal, name="lobby"),
    path("p/<slug:key>/message/", views.message_confirmed, name="message-read"),
    path("p/<slug:key>/media/<str:sha256>/<str:media_name>", media_page.media, name="media"),
    path("p/<slug:key>/sound/<uuid:episode>/", views.sound, name="sound"),
    path("p/<slug:key>/withdraw/", views.withdraw, name="withdraw"),
    path("staff/", study_overview_pages.index, name="staff"),
    path("staff/account/password/", reauthenticate.password_page, name="staff-password"),
    path("staff/account/second-factor/", security_pages.second_factor, name="staff-second-factor"),
    path("invitation/<str:secret>/", invitation_pages.invitation, name="invitation"),
    path("staff/logins/", invitation_pages.logins, name="staff-logins"),
    path("staff/tokens/", data_and_token_pages.tokens_page, name="tokens"),
    path("staff/security-events/", security_pages.security_events, name="security-events"),
    path("staff/sample-size/", sample_size_page.sample_size, name="sample-size"),
    path("staff/sample-size/power.svg", sample_size_page.power_figure, name="power-figure"),
    path("staff/well/", installation_status.well, name="staff-well"),
    path("staff/policies/", policy_file_pages.policy_files, name="policy-files"),
    path("staff/policies/<int:pk>/", policy_file_pages.policy_file, name="policy-file"),
    path("staff/replay/", replay_page.replay_opened, name="staff-replay-opened"),
    path("staff/replay/imported/", import_pages.imports, name="imports"),
    path("staff/replay/imported/<uuid:imported>/", import_pages.imported_replay, name="imported-replay"),
    path("staff/new/", manage_study_pages.new_study, name="staff-new"),
    path("staff/new/file/", study_file_pages.new_from_file, name="staff-new-file"),
    path("staff/<slug:slug>/", study_overview_pages.detail, name="staff-study"),
    path("staff/<slug:slug>/sample-size/", sample_size_page.study_sample_size, name="sample-size"),
    path("staff/<slug:slug>/live/", live_study_page.live_page, name="staff-live"),
    path("staff/<slug:slug>/replay/<uuid:episode>/", replay_page.replay, name="staff-replay"),
    path("staff/<slug:slug>/replay/<uuid:episode>.json", replay_page.replay_file, name="staff-replay-file"),
    path(
        "staff/<slug:slug>/replay/<uuid:episode>/marks/",
        annotation_panel.change_marks,
        name="staff-replay-marks",
    ),
    path(
        "staff/<slug:slug>/replay/<uuid:episode>/sound/<int:number>/",
        replay_sound.sound_take,
        name="staff-replay-sound",
    ),
    path(
        "staff/<slug:slug>/replay/<uuid:episode>/exclude/",
        episode_exclusion.exclude,
        name="staff-replay-exclude",
    ),
    path(
        "staff/<slug:slug>/replay/<uuid:episode>/timeline.<str:ending>",
        replay_page.replay_timeline,
        name="staff-replay-timeline",
    ),
    path("staff/<slug:slug>/entry/", live_study_page.entry, name="staff-entry"),
    path("staff/<slug:slug>/entry/go-on/", live_study_page.entry_go_on, name="staff-entry-go-on"),
    path("staff/<slug:slug>/participants/", participant_list_page.participants, name="staff-participants"),
    path(
        "staff/<slug:slug>/participants/annotation/",
        annotation_pages.annotation,
        name="staff-participants-annotation",
    ),
    path("staff/<slug:slug>/participants/breaks/", break_pages.breaks, name="staff-participants-breaks"),
    path("staff/<slug:slug>/participants/pay/", payment_pages.pay, name="staff-participants-pay"),
    path(
        "staff/<slug:slug>/participants/pay/<str:file>",
        payment_pages.pay_file,
        name="staff-participants-pay-file",
    ),
    path(
        "staff/<slug:slug>/participants/prolific/",
        prolific_page.prolific,
        name="staff-participants-prolific",
    ),
    path(
        "staff/<slug:slug>/participants/several/",
        participant_list_page.act_on_several,
        name="staff-participants-several",
    ),
    path(
        "staff/<slug:slug>/participants/several/erase/",
        participant_list_page.erase_several,
        name="staff-participants-several-erase",
    ),
    path(
        "staff/<slug:slug>/participants/<slug:code>/",
        participant_pages.participant,
        name="staff-participants-one",
    ),
    path(
        "staff/<slug:slug>/participants/<slug:code>/act/",
        participant_pages.act_on_participant,
        name="staff-participants-act",
    ),
    path(
        "staff/<slug:slug>/participants/<slug:code>/erase/",
        participant_pages.erase_participant,
        name="staff-participants-erase",
    ),
    *design_urls("staff/<slug:slug>/design/"),
    path(
        "staff/<slug:slug>/preregistration/",
        preregistration_pages.preregistration,
        name="staff-preregistration",
    ),
    path(
        "staff/<slug:slug>/preregistration/freeze/",
        preregistration_pages.freeze,
        name="staff-preregistration-freeze",
    ),
    path(
        "staff/<slug:slug>/preregistration/<int:number>/",
        preregistration_pages.readable_page,
        name="staff-preregistration-readable",
    ),
    path(
        "staff/<slug:slug>/preregistration/<int:number>.json",
        preregistration_pages.download_bundle,
        name="staff-preregistration-bundle",
    ),
    path(
        "staff/<slug:slug>/preregistration/<int:number>.zip",
        preregistration_pages.download_zip,
        name="staff-preregistration-handed",
    ),
    path("staff/<slug:slug>/data/", data_and_token_pages.data, name="staff-data"),
    path("staff/<slug:slug>/data/publication/", data_and_token_pages.publication, name="data-publication"),
    path("staff/<slug:slug>/data/<str:name>", data_and_token_pages.data_file, name="data-file"),
    path("staff/<slug:slug>/datasets/", dataset_pages.datasets, name="staff-datasets"),
    path("staff/<slug:slug>/datasets/<slug:dataset>.zip", dataset_pages.dataset_file, name="dataset-file"),
    path("staff/<slug:slug>/analysis/", analysis_pages.analysis, name="staff-analysis"),
    path("staff/<slug:slug>/analysis/report/", analysis_pages.report, name="staff-analysis-report"),
    path("staff/<slug:slug>/analysis/report.html", analysis_pages.report_html, name="report-html"),
    path("staff/<slug:slug>/analysis/report.pdf", analysis_pages.report_pdf, name="report-pdf"),
    path("staff/<slug:slug>/analysis/appendix.pdf", analysis_pages.report_appendix, name="report-appendix"),
    path("staff/<slug:slug>/analysis/<slug:measure>.svg", analysis_pages.figure, name="figure"),
    path("staff/<slug:slug>/analysis/<str:table>", analysis_pages.table_file, name="analysis-table"),
    path("staff/<slug:slug>/analysis/<slug:measure>/", analysis_pages.figures, name="figures"),
    path(
        "staff/<slug:slug>/analysis/<slug:measure>/<slug:figure>/texts/",
        figure_text_page.figure_texts,
        name="figure-texts",
    ),
    path(
        "staff/<slug:slug>/analysis/<slug:measure>/<str:name>", analysis_pages.figure_file, name="figure-file"
    ),
]
