"""The researcher's tokens for the API, and the API's own page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from study.exports.api import api
from study.researchers.frame import NOT_SURE, SURE
from study.researchers.permissions import FORM, staff_page, studies_for
from study.researchers.sure import needs_password
from study.researchers.tokens import token_make, token_revoke
from study.words.markdown import to_html

DAYS = {"30": "in 30 days", "90": "in 90 days", "365": "in a year"}


class TokenForm(forms.Form):
    """What a token is for."""

    name = forms.CharField(
        max_length=80, label="What it is for", help_text="For example “script on my laptop”."
    )
    study: Any = forms.ModelChoiceField(
        queryset=None, required=False, label="What it opens", empty_label="All studies that I may see"
    )
    days = forms.ChoiceField(choices=list(DAYS.items()), label="It expires", initial="365")

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        opened: Any = self.fields["study"]
        opened.queryset = studies_for(user)
        self.user = user

    def clean_name(self) -> str:
        """No other token that works has it: a form that is sent twice makes one token."""
        name = str(self.cleaned_data["name"])
        if any(token.works for token in self.user.api_tokens.filter(name=name)):
            raise forms.ValidationError("You have a token of this name. Revoke it, or choose another.")
        return name


@staff_page(FORM)
def tokens(request: HttpRequest) -> HttpResponseBase:
    """One's own tokens; a new one is shown once, in the answer to the form."""
    return _revoke(request) if "revoke" in request.POST else _tokens(request)


@needs_password
def _tokens(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    form, secret = TokenForm(request.POST or None, user=user), ""
    if request.method == "POST" and form.is_valid():
        form, secret = TokenForm(user=user), _make(user, form.cleaned_data)
    context = {
        "form": form,
        "secret": secret,
        "tokens": user.api_tokens.select_related("study"),
        "studies_url": request.build_absolute_uri("/api/studies"),
    }
    return render(request, "study/exports/tokens.html", context, status=422 if form.errors else 200)


def _make(user: Any, said: Mapping[str, Any]) -> str:
    """The secret of the new token."""
    expires_at = timezone.now() + timedelta(days=int(said["days"]))
    return token_make(user=user, name=said["name"], study=said["study"], expires_at=expires_at)[1]


def _revoke(request: HttpRequest) -> HttpResponse:
    """One's own token opens nothing any more, if that is meant."""
    asked = request.POST["revoke"]
    if SURE not in request.POST:
        messages.error(request, NOT_SURE)
    elif asked.isascii() and asked.isdigit() and len(asked) < 19:
        token_revoke(user=request.user, token_id=int(asked))
    return redirect("study:tokens")


@require_GET
def api_page(request: HttpRequest) -> HttpResponse:
    """What the API offers, from its own OpenAPI description."""
    schema = api.get_openapi_schema(path_prefix="/api/")
    operations = [
        {"method": method.upper(), "path": path, "anchor": operation["operationId"], **_said(operation)}
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]
    context = {
        "info": schema["info"],
        "operations": operations,
        "schemas": _schemas(schema),
        "root": request.build_absolute_uri("/")[:-1],
        "openapi_url": reverse("api:openapi-json"),
    }
    return render(request, "study/exports/api.html", context)


def _said(operation: dict[str, Any]) -> dict[str, Any]:
    answer = operation["responses"].get(200, {}).get("content", {}).get("application/json", {})
    return {
        "summary": operation["summary"],
        "description": to_html(operation.get("description", "")),
        "parameters": operation.get("parameters", []),
        "answer": _named(answer.get("schema", {})),
    }


def _named(schema: dict[str, Any]) -> str:
    """A type in words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {_named(schema['items'])}"
    if "additionalProperties" in schema:
        return f"{_named(schema['additionalProperties'])} by name"
    return str(schema.get("type", ""))


def _schemas(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "description": to_html(one.get("description", "")),
            "fields": [(field, _named(kind)) for field, kind in one.get("properties", {}).items()],
        }
        for name, one in schema.get("components", {}).get("schemas", {}).items()
    ]
