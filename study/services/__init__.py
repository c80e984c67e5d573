"""Everything that changes a study's participants: entering, going on, answering, leaving.

What researchers do to a design is in `study.services.designing`, `copying`, `freezing` and `previewing`.

Each is one transaction on the locked participant; each may be asked twice, the second time changes nothing.
"""

from study.services.answering import answers_submit, check_submit
from study.services.entering import (
    Referral,
    StudyClosedError,
    consent_given,
    consent_refused,
    participant_enter,
    study_takes,
    why_closed,
)
from study.services.going_on import go_on, page_done, page_opened
from study.services.idling import (
    idle_clock,
    participant_here,
    participant_time_out,
    time_out_idle,
)
from study.services.leaving import participant_end, participant_withdraw
from study.services.receipts import Receipt
from study.services.versions import version_current

__all__ = [
    "Receipt",
    "Referral",
    "StudyClosedError",
    "answers_submit",
    "check_submit",
    "consent_given",
    "consent_refused",
    "go_on",
    "idle_clock",
    "page_done",
    "page_opened",
    "participant_end",
    "participant_enter",
    "participant_here",
    "participant_time_out",
    "participant_withdraw",
    "study_takes",
    "time_out_idle",
    "version_current",
    "why_closed",
]
