"""`{% load money %}`: a template filter that formats amounts of US dollars."""

from __future__ import annotations

from django import template

from kitchen.llm.call_costs import format_dollars

register = template.Library()
register.filter("dollars", format_dollars)
