"""Define the admin in which staff look at studies and participants.

Second factors are not in the admin. They have their own page, which asks for the password.
"""

from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from study.admin.participant_admin import ParticipantAdmin
from study.admin.study_admin import StudyAdmin

admin.site.unregister([StaticDevice, TOTPDevice])

__all__ = ["ParticipantAdmin", "StudyAdmin"]
