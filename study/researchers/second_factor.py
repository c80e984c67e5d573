"""Manage the second factor of staff logins: codes from an app (TOTP), and recovery codes for a lost app.

A user with a second factor enters a code at each login. If the setting `SECOND_FACTOR_REQUIRED` is on, other
users can only open the page that sets it up. The library django-otp stores and checks the codes.
"""

from __future__ import annotations

import base64
from typing import Any

import segno
from django.conf import settings
from django.db import transaction
from django.utils.crypto import salted_hmac
from django_otp import match_token
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from study.researchers.models import SecurityEvent
from study.researchers.security_events import log_security_event

Kind = SecurityEvent.Kind
RECOVERY_CODES = 10
CODE_SALT = "brigade.recovery"


def has_factor(user: Any) -> bool:
    """Return whether this user has set up a second factor."""
    return bool(TOTPDevice.objects.filter(user=user, confirmed=True).exists())


def lacks_factor(user: Any) -> bool:
    """Return whether this user still has to set up a second factor, because the installation requires one."""
    return settings.SECOND_FACTOR_REQUIRED and not has_factor(user)


def code_fits(user: Any, code: str) -> bool:
    """Check a code at login, and return True if the user may log in. The code is from the authenticator app
    or is a recovery code. A correct code cannot be used a second time.

    Users without a second factor need no code. After a wrong code, further codes are refused for a while.
    """
    if not has_factor(user):
        return True
    code = normalised_code(code)
    return bool(code) and match_token(user, _as_stored(user, code)) is not None


def digest_of(code: str) -> str:
    """Return the hash of a recovery code for storage. It depends on the installation's secret key."""
    keyed = salted_hmac(CODE_SALT, code, algorithm="sha256").digest()
    return base64.b32encode(keyed).decode().lower()[:16]


def _as_stored(user: Any, code: str) -> str:
    """Return the submitted code in the form in which the database stores it: a recovery code as its hash, a
    code of the authenticator app unchanged.

    A recovery code from the command `addstatictoken` stays unchanged, too. A submitted hash gives an empty
    string, so that a stolen hash is not accepted as a code.
    """
    digest = digest_of(code)
    if StaticToken.objects.filter(device__user=user, token=digest).exists():
        return digest
    return "" if len(code) == len(digest) else code


def normalised_code(code: str) -> str:
    """Return a typed code in lower case, without spaces and punctuation."""
    return "".join(letter for letter in code.lower() if letter.isascii() and letter.isalnum())


def factor_begun(user: Any) -> TOTPDevice | None:
    """Return the user's device that is being set up and is not confirmed yet. Return None if there
    is none."""
    found: TOTPDevice | None = TOTPDevice.objects.filter(user=user, confirmed=False).first()
    return found


@transaction.atomic
def factor_begin(user: Any) -> TOTPDevice:
    """Create an unconfirmed device with a new secret for the user's authenticator app, and return it. It
    replaces an older unconfirmed device. A confirmed device stays in use."""
    TOTPDevice.objects.filter(user=user, confirmed=False).delete()
    made: TOTPDevice = TOTPDevice.objects.create(user=user, name="app", confirmed=False)
    return made


@transaction.atomic
def factor_confirm(user: Any, code: str) -> list[str]:
    """Confirm the new device with a code of the authenticator app. The new device then replaces the previous
    one. Return the recovery codes, which are shown once.

    If the code is wrong, return an empty list and change nothing.
    """
    device = factor_begun(user)
    if device is None or not device.verify_token(normalised_code(code)):
        return []
    TOTPDevice.objects.filter(user=user, confirmed=True).delete()
    device.confirmed = True
    device.save()
    log_security_event(Kind.FACTOR_SET_UP, user=user)
    return recovery_codes_make(user)


@transaction.atomic
def recovery_codes_make(user: Any) -> list[str]:
    """Replace all recovery codes by new ones and return them."""
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name="recovery")
    codes = [normalised_code(StaticToken.random_token()) for _ in range(RECOVERY_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=device, token=digest_of(code)) for code in codes)
    log_security_event(Kind.CODES_MADE, user=user)
    return codes


@transaction.atomic
def factor_remove(user: Any) -> None:
    """Remove this user's second factor and recovery codes."""
    if has_factor(user):
        log_security_event(Kind.FACTOR_REMOVED, user=user)
    TOTPDevice.objects.filter(user=user).delete()
    StaticDevice.objects.filter(user=user).delete()


def recovery_codes_left(user: Any) -> int:
    """Return the number of unused recovery codes."""
    return int(StaticToken.objects.filter(device__user=user).count())


def qr_code_url(device: TOTPDevice) -> str:
    """Return a QR code with the device's secret, as a data URL."""
    return str(segno.make(device.config_url, micro=False).svg_data_uri(scale=5))


def typed_secret(device: TOTPDevice) -> str:
    """Return the device's secret in groups of four letters, for users who type it into the app."""
    letters = base64.b32encode(device.bin_key).decode().rstrip("=")
    return " ".join(letters[at : at + 4] for at in range(0, len(letters), 4))
