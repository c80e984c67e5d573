"""Import all models of the app `study`, so that Django finds them.

Other modules import each model from the module or package that defines it.
"""

from study.design.models import Condition, Outcome, OwnPage, Study, StudyMedia, StudyPart, SurveyItem, Version
from study.participants.annotations import (
    Annotation,
    AnnotationCode,
    AnnotationPlan,
    EpisodeRating,
    Rater,
)
from study.participants.models import (
    Answer,
    Group,
    GroupMember,
    PageVisit,
    Participant,
    Round,
    StaffAction,
)
from study.participants.payments import Payment
from study.participants.sound_recordings import SoundPiece, SoundTake
from study.participants.staff_messages import ParticipantMessage
from study.pilot.models import DryRun
from study.researchers.models import ApiToken, Membership, SecurityCount, SecurityEvent, StaffInvitation

__all__ = [
    "Annotation",
    "AnnotationCode",
    "AnnotationPlan",
    "Answer",
    "ApiToken",
    "Condition",
    "DryRun",
    "EpisodeRating",
    "Group",
    "GroupMember",
    "Membership",
    "Outcome",
    "OwnPage",
    "PageVisit",
    "Participant",
    "ParticipantMessage",
    "Payment",
    "Rater",
    "Round",
    "SecurityCount",
    "SecurityEvent",
    "SoundPiece",
    "SoundTake",
    "StaffAction",
    "StaffInvitation",
    "Study",
    "StudyMedia",
    "StudyPart",
    "SurveyItem",
    "Version",
]
