"""Addresses of the study: participants' pages and the researcher's."""

from __future__ import annotations

from django.urls import path

from study import views

app_name = "study"
urlpatterns = [
    path("", views.home, name="home"),
    path("s/<slug:slug>/", views.enter, name="enter"),
    path("p/<str:key>/", views.participant, name="participant"),
    path("p/<str:key>/withdraw/", views.withdraw, name="withdraw"),
]
