"""The API for programs: read-only, by token. `/api/` explains it.

A token opens what its researcher may see (`study.researchers.permissions`), at the moment of each request.
"""

from __future__ import annotations

from typing import Annotated, Any

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import cache_control
from ninja import NinjaAPI, Schema
from ninja.errors import HttpError
from ninja.params.functions import Query
from ninja.security import HttpBearer

from kitchen.registry.names import UnknownNameError
from study.design.models import Study
from study.exports import progress
from study.exports.chosen import Chosen
from study.exports.registry import documents, tables
from study.exports.responses import file_response
from study.exports.writing import FORMATS
from study.researchers.models import ApiToken, SecurityEvent
from study.researchers.permissions import studies_for
from study.researchers.security import security_note
from study.researchers.tokens import token_find


class Token(HttpBearer):
    """`Authorization: Bearer brigade_…`. A token in an address is not read: addresses are logged."""

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        """The token, if it works."""
        return token_find(token)


api = NinjaAPI(
    title="Brigade",
    version="1",
    description="Reads studies: how far they are, and their data as files. Nothing can be changed by it.",
    auth=Token(),
    docs_url=None,
    urls_namespace="api",
)


api.add_decorator(cache_control(no_store=True), mode="view")


class StudyOut(Schema):
    """One study."""

    slug: str
    title: str
    status: str


class CellOut(Schema):
    """One sequence of an order scheme, and how many people hold it."""

    versions: list[int]
    sequence: int
    order: list[str]
    finished: int
    playing: int


class ProgressOut(Schema):
    """How far a study is."""

    slug: str
    people: dict[str, int]
    synthetic: dict[str, int]
    preview: dict[str, int]
    excluded: int
    withdrawn: int
    withdrawn_synthetic: int
    orders: str
    cells: list[CellOut]
    spent_usd: float
    budget_usd: float


class FileOut(Schema):
    """One file that can be read."""

    name: str
    meaning: str
    url: str


def readable(request: Any) -> Any:
    """The studies that this request's token opens."""
    token: ApiToken = request.auth
    studies = studies_for(token.user)
    return studies.filter(pk=token.study_id) if token.study_id else studies


def study_of(request: HttpRequest, slug: str) -> Study:
    """One of them; what the token does not open does not exist for it."""
    study: Study = get_object_or_404(readable(request), slug=slug)
    return study


@api.get("/studies", response=list[StudyOut], summary="Studies that the token may read", tags=["studies"])
def list_studies(request: HttpRequest) -> Any:
    """In the order of their slugs."""
    return readable(request).order_by("slug")


@api.get(
    "/studies/{slug:slug}/progress", response=ProgressOut, summary="How far a study is", tags=["studies"]
)
def study_progress(request: HttpRequest, slug: str) -> dict[str, Any]:
    """People, synthetic participants and previews by exit status; how the sequences of the order scheme are
    filled (people who are not excluded; where versions differ in their schemes, each scheme for itself); US
    dollars that models cost."""
    study = study_of(request, slug)
    return {
        "slug": study.slug,
        "people": progress.statuses(study, synthetic=False, preview=False),
        "synthetic": progress.statuses(study, synthetic=True, preview=False),
        "preview": progress.statuses(study, preview=True),
        "excluded": study.participants.exclude(excluded_at=None).count(),
        "withdrawn": study.withdrawn,
        "withdrawn_synthetic": study.withdrawn_synthetic,
        "orders": study.orders,
        "cells": progress.cells(study),
        "spent_usd": progress.spent(study),
        "budget_usd": float(study.budget_limit),
    }


@api.get("/studies/{slug:slug}/files", response=list[FileOut], summary="Files of a study", tags=["files"])
def list_files(request: HttpRequest, slug: str) -> list[dict[str, str]]:
    """Every file in each of its forms, and all of them as one ZIP."""
    study = study_of(request, slug)
    meanings = {f"{table.name}.{form}": table.meaning for table in tables() for form in FORMATS}
    meanings |= {document.name: document.meaning for document in documents()}
    meanings |= {f"all_{form}.zip": f"All files, the tables as {form}." for form in FORMATS}
    root = request.build_absolute_uri(f"/api/studies/{study.slug}/files/")
    return [{"name": name, "meaning": meaning, "url": root + name} for name, meaning in meanings.items()]


WITHOUT = Query(default_factory=list)


@api.get("/studies/{slug:slug}/files/{name}", summary="One file, streamed", tags=["files"])
def study_file(
    request: HttpRequest, slug: str, name: str, without: Annotated[list[str], WITHOUT]
) -> HttpResponseBase:
    """The file by its name, as in the list. `without` leaves out kinds of participants, as often as it is
    given: people, synthetic, preview, excluded; or what an outage touched: outage_steps, outage_episodes.
    Otherwise everything is in it, marked."""
    study = study_of(request, slug)
    try:
        answer = file_response(study, name, Chosen.without(without))
    except UnknownNameError as error:
        raise Http404(str(error)) from error
    except ValueError as error:
        raise HttpError(422, f"without: {error}") from error
    token: ApiToken = request.auth  # type: ignore[attr-defined]
    kind, what = SecurityEvent.Kind.DATA_DOWNLOADED, f"{name}, by {token}"
    security_note(kind, user=token.user, study=study, what=what, request=request)
    return answer
