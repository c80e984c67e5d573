"""The form of a condition with who plays in it, and who may command whom and write to whom."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError

from study.editor.model_forms import ConditionForm
from study.editor.team_form import KIND, team_fields, team_initial, team_read


class TeamFields(ConditionForm):
    """A form of a condition that has these fields too. What is sent without them changes nothing of them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, value in team_initial(self.instance.organisation).items():
            self.initial.setdefault(name, value)

    def clean(self) -> dict[str, Any]:
        """Gathers them; the model checks whether they can be played."""
        cleaned: dict[str, Any] = super().clean()
        if KIND in self.data and KIND in cleaned:
            wrong: list[tuple[str, str]] = []
            team = team_read(cleaned, lambda field, why: wrong.append((field, why)))
            for field, why in wrong:
                self.add_error(field, ValidationError(why))
            if not wrong:
                self.instance.organisation = team
        return cleaned

    @property
    def team_errors(self) -> bool:
        """Whether something is wrong with one of them."""
        return any(name in self.errors for name in team_fields())

    @property
    def team(self) -> list[Any]:
        """The fields, for the page."""
        return [self[name] for name in team_fields()]
