"""The admin in which a researcher sets up studies without code, and looks at who takes part."""

from study.admin.conditions import ConditionAdmin
from study.admin.participants import ParticipantAdmin
from study.admin.studies import StudyAdmin

__all__ = ["ConditionAdmin", "ParticipantAdmin", "StudyAdmin"]
