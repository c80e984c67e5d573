"""Define the template filter `dollars`, which formats amounts in US dollars (`{% load money %}`)."""

from __future__ import annotations

from django import template

from kitchen.llm.call_costs import format_dollars

register = template.Library()
register.filter("dollars", format_dollars)
