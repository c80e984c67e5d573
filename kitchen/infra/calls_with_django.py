"""Call functions that need Django in a child process, which has not loaded it yet (`process_pool`)."""

from __future__ import annotations

from typing import Any

import django
from django.apps import apps
from django.utils.module_loading import import_string


def call_with_django(path: str, *arguments: Any) -> Any:
    """Return the result of the function with this dotted path, called with `arguments`. Load Django and the
    apps before, unless they are loaded. Raises the function's errors."""
    if not apps.ready:
        django.setup()
    return import_string(path)(*arguments)
