"""The templates of the play page: panels, layouts, guides. Jinja2, escaped, with `static`, translations and
nothing more."""

from __future__ import annotations

from typing import Any

from django.templatetags.static import static
from django.utils import translation
from jinja2 import Environment, StrictUndefined


def environment(**options: Any) -> Environment:
    """What Django's Jinja2 backend asks for: a name that a template is not given is an error."""
    ours = {"trim_blocks": True, "lstrip_blocks": True, "undefined": StrictUndefined, "autoescape": True}
    made = Environment(**{**options, **ours})  # noqa: S701 - escaped, two lines above
    made.globals["static"] = static
    made.add_extension("jinja2.ext.i18n")
    made.install_gettext_callables(  # type: ignore[attr-defined] # the extension has it
        translation.gettext, translation.ngettext, newstyle=True, pgettext=translation.pgettext
    )
    return made
