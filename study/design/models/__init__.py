"""Define the Django models of a study's design. Other modules import them from this package."""

from study.design.models.condition import Condition, Knowing, conditions_with_unmeasured
from study.design.models.own_page import OwnPage
from study.design.models.parts_and_outcomes import Outcome, StudyPart
from study.design.models.study import Shown, Study, new_seed
from study.design.models.study_media import StudyMedia
from study.design.models.survey_item import SurveyItem
from study.design.models.version import Version

__all__ = [
    "Condition",
    "Knowing",
    "Outcome",
    "OwnPage",
    "Shown",
    "Study",
    "StudyMedia",
    "StudyPart",
    "SurveyItem",
    "Version",
    "conditions_with_unmeasured",
    "new_seed",
]
