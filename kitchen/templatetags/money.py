"""`{% load money %}`: amounts of US dollars in templates, as everywhere else."""

from __future__ import annotations

from django import template

from kitchen.llm.money import dollars

register = template.Library()
register.filter("dollars", dollars)
