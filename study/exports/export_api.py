"""Serve the read-only REST API with which programs read studies. `/api/` shows its documentation.

Each request needs the API token of a researcher. It can read the studies that this researcher may see at that
moment (`study.researchers.permissions`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Annotated, Any

from django.db.models import Count, Exists, OuterRef, Q, Sum
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import cache_control
from ninja import NinjaAPI, Schema
from ninja.errors import HttpError
from ninja.params.functions import Query
from ninja.security import HttpBearer

from kitchen.money.models import Spending
from kitchen.registry.dotted_paths import UnknownNameError
from study.design.blueprint import Blueprint, blueprint_of
from study.design.counterbalancing import SchemeError, SequenceTally
from study.design.models import Study
from study.design.round_plans import RoundPlan, plan_sequences
from study.exports.export_files import FORMATS, file_response, tables_in
from study.exports.export_registry import documents
from study.exports.export_table import ExportSelection
from study.participants.models import Participant
from study.participants.participant_counts import sequence_tallies
from study.researchers.api_tokens import token_find
from study.researchers.models import ApiToken, SecurityEvent
from study.researchers.permissions import studies_for
from study.researchers.security_events import log_security_event


def status_counts(study: Study, **which: Any) -> dict[str, int]:
    """Return the number of the study's participants by exit status. A status that no participant has counts
    0. `which` are filters for the participants."""
    rows = study.participants.filter(**which).order_by().values_list("status").annotate(Count("pk"))
    return dict.fromkeys(Participant.Status.values, 0) | dict(rows)


def sequence_progress(study: Study, *, synthetic: bool = False) -> Iterator[CellOut]:
    """Yield every sequence of conditions that the study's counterbalancing uses or used, with the number of
    its participants.

    Sequences without participants are included. Random orders have no sequences. `synthetic` counts synthetic
    participants instead of people.
    """
    for plan, versions in _plans(study).items():
        try:
            block = plan_sequences(plan)
        except SchemeError:  # not ready yet: these orders cannot be made
            continue
        held = sequence_tallies(study, plan, synthetic=synthetic, preview=False)
        for one in block:
            tally = held.get(one.id, SequenceTally())
            cell: dict[str, Any] = {
                "versions": versions,
                "sequence": one.id,
                "order": list(one.order),
                "finished": tally.finished,
                "playing": tally.playing,
            }
            yield GroupCellOut(**cell, group=plan.group) if plan.group else CellOut(**cell)


def _plans(study: Study) -> dict[RoundPlan, list[int]]:
    """Return the plans of rounds of the study, each with the numbers of the versions under which participants
    entered. A plan that only the present design has comes with an empty list."""
    plans: dict[RoundPlan, list[int]] = defaultdict(list)
    entered = Participant.objects.filter(version=OuterRef("pk"), preview=False)
    for version in study.versions.filter(Exists(entered)).order_by("number"):
        for plan in _plans_by_group(version.blueprint):
            plans[plan].append(version.number)
    for plan in _plans_by_group(blueprint_of(study)):
        plans.setdefault(plan, [])
    return plans


def _plans_by_group(design: Blueprint) -> list[RoundPlan]:
    """Return the plan of rounds of each between-subjects group. If the design has no groups, return its only
    plan."""
    return [design.round_plan(group) for group in design.groups or ("",)]


def money_spent(study: Study) -> float:
    """Return the US dollars that the study's model calls cost: costs of ended calls, and reserved amounts
    of running calls."""
    ledger = Spending.objects.filter(budget=study.budget_id) if study.budget_id else Spending.objects.none()
    sums = ledger.aggregate(ended=Sum("spent"), under_way=Sum("reserved", filter=Q(spent=None)))
    return float(sum(amount or 0 for amount in sums.values()))


class Token(HttpBearer):
    """Authenticates requests by the header `Authorization: Bearer brigade_…`. Tokens in addresses are
    ignored, because addresses are logged."""

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        """Return the stored token with this secret text, if it is valid; else None."""
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
    """A study that the token may read."""

    slug: str
    title: str
    status: str


class CellOut(Schema):
    """A sequence of an order scheme, and the number of people who hold it."""

    versions: list[int]
    sequence: int
    order: list[str]
    finished: int
    playing: int


class GroupCellOut(CellOut):
    """A sequence of an order scheme in one between-subjects group, and the number of people who hold it."""

    group: str


class ProgressOut(Schema):
    """The progress of a study: counts of participants by status."""

    slug: str
    people: dict[str, int]
    synthetic: dict[str, int]
    preview: dict[str, int]
    excluded: int
    withdrawn: int
    withdrawn_synthetic: int
    orders: str
    cells: list[GroupCellOut | CellOut]
    spent_usd: float
    budget_usd: float


class FileOut(Schema):
    """A file that can be downloaded."""

    name: str
    meaning: str
    url: str


def readable(request: Any) -> Any:
    """Return a query of the studies that this request's token may read."""
    token: ApiToken = request.auth
    studies = studies_for(token.user, "results")
    return studies.filter(pk=token.study_id) if token.study_id else studies


def study_of(request: HttpRequest, slug: str) -> Study:
    """Return the study with this slug. Raises Http404 if it does not exist or the token may not read it."""
    study: Study = get_object_or_404(readable(request), slug=slug)
    return study


@api.get("/studies", response=list[StudyOut], summary="Studies that the token may read", tags=["studies"])
def list_studies(request: HttpRequest) -> Any:
    """List the studies that the token may read, in the order of their slugs."""
    return readable(request).order_by("slug")


@api.get(
    "/studies/{slug:slug}/progress",
    response=ProgressOut,
    summary="How far a study is",
    tags=["studies"],
)
def study_progress(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Return the progress of data collection in a study.

    The result counts people, synthetic participants and previews by exit status. It also counts, for each
    sequence of conditions, the people who have it and are not excluded. If versions use different order
    schemes, each scheme is counted separately. The cost of language models is in US dollars.
    """
    study = study_of(request, slug)
    return {
        "slug": study.slug,
        "people": status_counts(study, synthetic=False, preview=False),
        "synthetic": status_counts(study, synthetic=True, preview=False),
        "preview": status_counts(study, preview=True),
        "excluded": study.participants.exclude(excluded_at=None).count(),
        "withdrawn": study.withdrawn,
        "withdrawn_synthetic": study.withdrawn_synthetic,
        "orders": study.orders,
        "cells": list(sequence_progress(study)),
        "spent_usd": money_spent(study),
        "budget_usd": float(study.budget_limit),
    }


@api.get("/studies/{slug:slug}/files", response=list[FileOut], summary="Files of a study", tags=["files"])
def list_files(request: HttpRequest, slug: str) -> list[dict[str, str]]:
    """List the export files of a study, with a name, a description and a URL for each. Tables are listed
    once for each file format (such as CSV). For each format, the list also has a ZIP with all files."""
    study = study_of(request, slug)
    meanings = {name: table.meaning for form in FORMATS for name, table in tables_in(form)}
    meanings |= {document.name: document.meaning for document in documents()}
    meanings |= {f"all_{form}.zip": f"All files that exist as {form}." for form in FORMATS}
    root = request.build_absolute_uri(f"/api/studies/{study.slug}/files/")
    return [{"name": name, "meaning": meaning, "url": root + name} for name, meaning in meanings.items()]


WITHOUT = Query(default_factory=list)


@api.get("/studies/{slug:slug}/files/{name}", summary="One file, streamed", tags=["files"])
def study_file(
    request: HttpRequest, slug: str, name: str, without: Annotated[list[str], WITHOUT]
) -> HttpResponseBase:
    """Return the export file with this name. `list_files` lists the names.

    `without` leaves data out. It can name kinds of participants: people, synthetic, preview, excluded. It
    can also name data that an outage affected: outage_steps, outage_episodes. Repeat it to leave out
    several kinds. By default, nothing is left out, and columns mark these kinds of data.
    """
    study = study_of(request, slug)
    try:
        answer = file_response(study, name, ExportSelection.without(without))
    except UnknownNameError as error:
        raise Http404(str(error)) from error
    except ValueError as error:
        raise HttpError(422, f"without: {error}") from error
    token: ApiToken = request.auth  # type: ignore[attr-defined]
    kind, what = SecurityEvent.Kind.DATA_DOWNLOADED, f"{name}, by {token}"
    log_security_event(kind, user=token.user, study=study, what=what, request=request)
    return answer
