"""What is told to whoever wants to hear it, so that those who tell it need not know them."""

from __future__ import annotations

from django.dispatch import Signal

person_erased = Signal()
"""After the commit that erased somebody; `study_id` says in which study, `receipt` is what they were given,
`mark` all that is kept of them (`study.people.marks`), `by` who of the staff did it, if they did not leave by
themselves."""
