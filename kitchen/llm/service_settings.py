"""Read where and how a provider shall answer: its service tier, its region, and the address of its server.

They are set for each model in the list of models (`BRIGADE_MODELS`), or else for a provider in the
environment (`ENVIRONMENT`). Without a setting, nothing is sent, and the provider's own default applies.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from kitchen.llm.model_capabilities import listed_service

TIER, REGION = "service_tier", "inference_geo"
"""Names of the settings, as the APIs call them."""
SERVED = "served"
"""Key in a call's parameters for the tier and the region in which it was answered."""
ENVIRONMENT: Mapping[str, Mapping[str, str]] = {
    "anthropic": {TIER: "ANTHROPIC_SERVICE_TIER", REGION: "ANTHROPIC_INFERENCE_GEO"},
    "openai-compatible": {TIER: "OPENAI_SERVICE_TIER"},
}
"""The environment variables of each provider, by setting."""
TIERS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("auto", "standard_only"),
    "openai-compatible": ("auto", "default", "flex", "scale", "priority", "fast"),
}
"""The service tiers that each provider accepts."""
USUAL_TIERS = ("", "standard_only", "default")
"""Tiers at the usual price."""
AUTO_TIER = "auto"
"""The tier with which the provider chooses one."""
USUAL_SERVED = (*USUAL_TIERS, AUTO_TIER, "standard", "batch")
"""Tiers at the usual price, as providers report them with an answer. A price for batches is the usual one of
batches."""
_REGION = re.compile(r"[a-z][a-z0-9-]{0,30}\Z")


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How one model is asked. An empty text leaves a choice to the provider."""

    tier: str = ""
    region: str = ""
    address: str = ""
    """The server's address, if it is not the provider's usual one."""

    @property
    def sent(self) -> dict[str, str]:
        """Return the settings that are part of each request, by their names in the API."""
        return {name: value for name, value in ((TIER, self.tier), (REGION, self.region)) if value}


def service_settings(provider: str, model: str) -> ServiceSettings:
    """Return the settings of a model, from its row in the list of models or else from the environment."""
    row, named = listed_service(provider, model), ENVIRONMENT.get(provider, {})
    given = {setting: os.environ.get(variable, "").strip() for setting, variable in named.items()}
    return ServiceSettings(
        row.service_tier or given.get(TIER, ""),
        row.inference_geo or given.get(REGION, ""),
        row.base_url,
    )


def service_problem(provider: str, model: str) -> str:
    """Return why the provider does not accept a model's settings; empty if it does."""
    found = service_settings(provider, model)
    if found.tier and found.tier not in TIERS.get(provider, ()):
        return f"service_tier: {found.tier!r} is not one of {', '.join(TIERS.get(provider, ()))}"
    if found.region and (REGION not in ENVIRONMENT.get(provider, {}) or not _REGION.match(found.region)):
        return f"inference_geo: {found.region!r} is no region of {provider}, such as us"
    if found.address and urlsplit(found.address).scheme not in ("http", "https"):
        return f"base_url: {found.address!r} is no address such as https://eu.example.org/v1"
    return ""
