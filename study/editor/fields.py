"""Form fields for values that are lists or of several kinds, typed as a researcher would write them."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from kitchen.contract.shallow import TooDeepError, read_json
from kitchen.contract.world import Json


class LinesField(forms.CharField):
    """A list of texts, one on each line; empty lines do not count."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"widget": forms.Textarea(attrs={"rows": 4}), "required": False, **kwargs})

    def prepare_value(self, value: Any) -> Any:
        """The list as lines."""
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        """The lines as a list."""
        return [line.strip() for line in (super().to_python(value) or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether the lines are others."""
        return bool(list(initial or []) != self.to_python(data))

    def validate(self, value: Any) -> None:
        """At least one line where one is needed."""
        if self.required and not value:
            raise forms.ValidationError(self.error_messages["required"], code="required")


class ValueField(forms.CharField):
    """One answer as it is stored: a number as a number, `["a", "b"]` for several, all else as text; None if
    empty."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, **kwargs})

    def prepare_value(self, value: Any) -> Any:
        """As somebody would type it."""
        return value if isinstance(value, str) else "" if value is None else json.dumps(value)

    def to_python(self, value: Any) -> Json:
        """The number, the list or the text."""
        text = super().to_python(value) or ""
        try:
            parsed = read_json(text)
        except TooDeepError as error:
            raise forms.ValidationError(f"This {error}.", code="deep") from None
        except ValueError:
            return text or None
        return parsed if isinstance(parsed, (int, float, list)) and not isinstance(parsed, bool) else text

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether the value is another."""
        return bool(initial != self.to_python(data))

    def validate(self, value: Any) -> None:
        """A value where one is needed."""
        if self.required and value is None:
            raise forms.ValidationError(self.error_messages["required"], code="required")

    def run_validators(self, value: Any) -> None:
        """Texts only: a number has no length."""
        if isinstance(value, str):
            super().run_validators(value)
