"""The admin in which a researcher sets up studies without code, and looks at who takes part.

Second factors have a page of their own, which asks for the password: they are not in the admin.
"""

from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from study.admin.condition_admin import ConditionAdmin
from study.admin.participant_admin import ParticipantAdmin
from study.admin.study_admin import StudyAdmin

admin.site.unregister([StaticDevice, TOTPDevice])

__all__ = ["ConditionAdmin", "ParticipantAdmin", "StudyAdmin"]
