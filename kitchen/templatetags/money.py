"""`{% load money %}`: format amounts of US dollars in templates, as everywhere else."""

from __future__ import annotations

from django import template

from kitchen.llm.call_costs import format_dollars

register = template.Library()
register.filter("dollars", format_dollars)
