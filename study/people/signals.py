"""What is told to whoever wants to hear it, so that those who tell it need not know them."""

from __future__ import annotations

from django.dispatch import Signal

person_goes = Signal()
"""In the transaction that erases somebody: who hears of it keeps what must not be lost; an error undoes it
all. `study_id` says in which study, `receipt` is what they are given, `mark` all that is kept of them
(`study.people.marks`), `by` who of the staff does it, if they do not leave by themselves."""

person_erased = Signal()
"""After the commit that erased somebody; `study_id` says in which study."""
