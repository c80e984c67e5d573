"""Links that Prolific signed: whoever comes by one is who it says; what does not hold changes nothing."""

from __future__ import annotations

import hmac
import json
import logging
import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.test import Client
from jwt.algorithms import RSAAlgorithm

from study.design.models import Study
from study.participants.models import Participant
from study.participation import prolific_entry_links
from study.participation.enter_study import synthetic_invitation
from study.participation.prolific_entry_links import KeyRing
from tests.nightly import nightly
from tests.study.factories import make_study
from tests.study.participation.test_guests import LINK, begun, come
from tests.study.participation.test_views import field, text_of

pytestmark = pytest.mark.django_db

NAMED = {"PROLIFIC_PID": "5f01", "STUDY_ID": "s1", "SESSION_ID": "a1", "workspace_id": "w1"}
HERE = "http://testserver/s/small/"
WHOLE = f"{LINK}&STUDY_ID=s1&SESSION_ID=a1"
Sign = Callable[..., str]


@pytest.fixture(scope="module")
def key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


@pytest.fixture(scope="module")
def other_key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def key_set(key: RSAPrivateKey) -> str:
    """As Prolific shows its keys."""
    shown = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return json.dumps({"keys": [{**shown, "kid": "k1", "alg": "RS256", "use": "sig"}]})


@pytest.fixture
def sign(key: RSAPrivateKey, monkeypatch: pytest.MonkeyPatch) -> Sign:
    """Makes a token with which somebody comes."""
    monkeypatch.setattr(prolific_entry_links, "ring", KeyRing(lambda source: key_set(key)))

    def token(by: Any = key, algorithm: str = "RS256", kid: str = "k1", **more: Any) -> str:
        now = int(time.time())
        claims = {"iss": "https://www.prolific.com", "aud": HERE, "iat": now, "exp": now + 300, "sub": "a1"}
        said = {**claims, "prolific": NAMED, **more}
        held = {name: value for name, value in said.items() if value is not None}
        return jwt.PyJWS().encode(json.dumps(held).encode(), by, algorithm, headers={"kid": kid})

    return token


@pytest.fixture
def study() -> Study:
    return make_study(recruitment="prolific", signed_only=True, prolific_workspace="w1")


def opened(client: Client, token: str, more: str = "") -> str:
    """Where a link with this token leads to."""
    answer = client.get(f"/s/small/?prolific_token={token}{more}")
    assert answer.status_code == 302
    return str(answer["Location"])


def test_the_token_identifies_the_person_and_stays_in_no_address(
    client: Client, study: Study, sign: Sign
) -> None:
    token = sign()
    clean = opened(client, token)
    assert clean == "/s/small/?PROLIFIC_PID=5f01&STUDY_ID=s1&SESSION_ID=a1"
    personal = come(client, clean)
    person = Participant.objects.get()
    assert (person.label, person.referral) == ("5f01", {"STUDY_ID": "s1", "SESSION_ID": "a1"})
    sent = client.get(personal)
    assert token not in text_of(sent) + str(sent.headers) + str(client.cookies)
    assert token not in str(list(Participant.objects.values()))


def test_it_is_as_good_as_the_personal_link_in_any_browser(client: Client, sign: Sign) -> None:
    study = make_study(recruitment="prolific", prolific_workspace="w1")
    personal, guest, other = begun(client, WHOLE), Client(), Client()
    assert come(guest, WHOLE) != personal
    assert come(guest, opened(guest, sign())) == personal  # a guest shows that it is them
    assert come(other, opened(other, sign(), "&PROLIFIC_PID=5f01&STUDY_ID=s1")) == personal
    assert opened(other, sign(), "&PROLIFIC_PID=%7B%7B%25PROLIFIC_PID%25%7D%7D").count("=5f01") == 1
    assert other.cookies[prolific_entry_links.cookie_of(study)].value
    gone = other.post(f"{personal}withdraw/", {"confirm": "yes"})
    assert "Your data have been erased" in text_of(gone)
    assert not Participant.objects.exists() and not other.cookies[prolific_entry_links.cookie_of(study)].value


def test_the_cookie_lasts_some_hours_and_no_script_reads_it(client: Client, study: Study, sign: Sign) -> None:
    opened(client, sign())
    cookie = client.cookies[prolific_entry_links.cookie_of(study)]
    kept = cookie["max-age"], cookie["httponly"], cookie["samesite"], cookie["path"]
    assert kept == (4 * 3600, True, "Lax", "/s/small/")


OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "another workspace": ("w1", {**NAMED, "workspace_id": "w2"}),
    "no workspace in the token": ("w1", {**NAMED, "workspace_id": None}),
    "no workspace in the study": ("", NAMED),
    "another study of the same workspace": ("w1", {**NAMED, "STUDY_ID": "s2"}),
    "no study in the token": ("w1", {**NAMED, "STUDY_ID": None}),
}


@pytest.mark.parametrize("more", ["&PROLIFIC_PID=5f01&STUDY_ID=s1", *nightly("")])
@pytest.mark.parametrize("case", OTHERS)
def test_a_study_that_anybody_made_on_prolific_opens_nobodys_place(
    case: str, more: str, client: Client, sign: Sign
) -> None:
    workspace, said = OTHERS[case]
    study = make_study(recruitment="prolific", prolific_workspace=workspace)
    personal = begun(client, WHOLE)
    for link in (WHOLE, WHOLE.replace("s1", "s2"), LINK):
        stranger = Client()
        opened(stranger, sign(prolific=said), more)
        theirs = come(stranger, link)
        assert theirs != personal and Participant.objects.count() == 1
        stranger.post(f"{theirs}withdraw/", {"confirm": "yes"})
        assert Participant.objects.count() == 1
    Study.objects.filter(pk=study.pk).update(signed_only=True)
    assert Client().get(WHOLE).status_code == 422
    for link in (WHOLE, WHOLE.replace("s1", "s2"), LINK):
        again = Client()
        opened(again, sign(prolific=said), more)
        assert again.get(link).status_code == 422


def test_a_link_adds_no_study_to_what_the_token_says(client: Client, study: Study, sign: Sign) -> None:
    opened(client, sign(prolific={**NAMED, "STUDY_ID": None}), "&STUDY_ID=s1")
    assert prolific_entry_links.cookie_of(study) not in client.cookies


def test_a_workspace_that_is_named_later_takes_no_older_cookie(
    client: Client, study: Study, sign: Sign
) -> None:
    clean = opened(client, sign())
    assert client.get(clean).status_code == 200
    Study.objects.filter(pk=study.pk).update(prolific_workspace="w2")
    assert client.get(clean).status_code == 422


def test_without_a_workspace_the_token_only_fills_the_link_in(
    client: Client, sign: Sign, caplog: pytest.LogCaptureFixture
) -> None:
    make_study(recruitment="prolific")
    come(client, opened(client, sign()))
    assert Participant.objects.get().label == "5f01"
    assert "small: a signed link of Prolific vouches for nobody: the study names no" in caplog.text


def test_the_cookie_of_a_signed_link_is_about_one_person_and_one_study(client: Client, sign: Sign) -> None:
    make_study(recruitment="prolific", signed_only=True, prolific_workspace="w1")
    other = make_study("other", recruitment="prolific", signed_only=True, prolific_workspace="w1")
    opened(client, sign())
    client.cookies[prolific_entry_links.cookie_of(other)] = client.cookies[
        f"brigade_signed_{other.pk - 1}"
    ].value
    for link in (WHOLE.replace("5f01", "5f02"), WHOLE.replace("small", "other")):
        assert client.get(link).status_code == 422
    assert client.get(WHOLE).status_code == 200


FORGED: dict[str, Callable[[Sign, RSAPrivateKey, RSAPrivateKey], str]] = {
    "no token": lambda sign, key, other: "",
    "no token at all": lambda sign, key, other: "x.y.z",
    "too long": lambda sign, key, other: sign(more="x" * 6000),
    "too long and damaged": lambda sign, key, other: "x" * 9000,
    "another hash": lambda sign, key, other: sign(algorithm="RS512"),
    "another padding": lambda sign, key, other: sign(algorithm="PS256"),
    "an issuer that is a list": lambda sign, key, other: sign(iss=["https://www.prolific.com"]),
    "an issuer that is none": lambda sign, key, other: sign(iss={"https://www.prolific.com": 1}),
    "an end that is none": lambda sign, key, other: sign(exp=[1]),
    "over": lambda sign, key, other: sign(exp=int(time.time()) - 120),
    "without an end": lambda sign, key, other: sign(exp=None),
    "another key": lambda sign, key, other: sign(by=other),
    "an unknown key": lambda sign, key, other: sign(kid="k2"),
    "no algorithm": lambda sign, key, other: sign(by=None, algorithm="none"),
    "another issuer": lambda sign, key, other: sign(iss="https://prolific.example"),
    "no issuer": lambda sign, key, other: sign(iss=None),
    "another server": lambda sign, key, other: sign(aud="https://elsewhere.example/s/small/"),
    "another study": lambda sign, key, other: sign(aud="http://testserver/s/other/"),
    "no address": lambda sign, key, other: sign(aud="javascript://testserver/s/small/"),
    "another scheme": lambda sign, key, other: sign(aud=["ftp://testserver"]),
    "an empty audience": lambda sign, key, other: sign(aud=["", "/s/small/", {}, None, 1]),
    "no audience": lambda sign, key, other: sign(aud=None),
    "nobody": lambda sign, key, other: sign(prolific={"STUDY_ID": "s1"}),
    "nothing": lambda sign, key, other: sign(prolific="5f01"),
    "incomplete": lambda sign, key, other: sign(prolific={**NAMED, "PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}),
    "half filled in": lambda sign, key, other: sign(prolific={**NAMED, "SESSION_ID": "{{%SESSION_ID%}}"}),
    "too long a name": lambda sign, key, other: sign(prolific={**NAMED, "SESSION_ID": "x" * 121}),
    "padded": lambda sign, key, other: sign(prolific={**NAMED, "STUDY_ID": " s1"}),
    "what does not print": lambda sign, key, other: sign(prolific={**NAMED, "SESSION_ID": "a\n1"}),
    "a list": lambda sign, key, other: sign(prolific={**NAMED, "PROLIFIC_PID": ["5f01"]}),
    "a word": lambda sign, key, other: sign(prolific={**NAMED, "SESSION_ID": True}),
    "a dictionary": lambda sign, key, other: sign(prolific={**NAMED, "STUDY_ID": {"a": 1}}),
    "another workspace": lambda sign, key, other: sign(prolific={**NAMED, "workspace_id": "w2"}),
    "no workspace": lambda sign, key, other: sign(prolific={**NAMED, "workspace_id": None}),
    "workspaces": lambda sign, key, other: sign(prolific={**NAMED, "workspace_id": ["w1"]}),
    "somebody else": lambda sign, key, other: sign(prolific={**NAMED, "PROLIFIC_PID": "5f02"}),
}


@pytest.mark.parametrize("case", FORGED)
def test_an_invalid_token_gets_a_plain_page_and_changes_nothing(
    case: str,
    client: Client,
    study: Study,
    sign: Sign,
    key: RSAPrivateKey,
    other_key: RSAPrivateKey,
    settings: Any,
) -> None:
    settings.PUBLIC_URL = ""  # a server that does not know its name
    clean = opened(client, FORGED[case](sign, key, other_key), "&PROLIFIC_PID=5f01")
    assert clean == LINK
    page = client.get(clean)
    assert page.status_code == 422 and "Open the study on Prolific again" in text_of(page)
    assert client.post(clean, {"entry": "a" * 32}).status_code == 422
    assert not Participant.objects.exists() and prolific_entry_links.cookie_of(study) not in client.cookies


@pytest.mark.parametrize("error", [TypeError, ValueError, RecursionError])
def test_an_error_of_the_library_gets_a_plain_page(
    error: type[Exception], client: Client, study: Study, sign: Sign, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumbles(*args: Any, **more: Any) -> None:
        raise error

    token = sign()
    monkeypatch.setattr(jwt, "decode", stumbles)
    assert client.get(opened(client, token, "&PROLIFIC_PID=5f01")).status_code == 422


def test_a_public_key_is_no_secret_to_sign_with(
    client: Client, study: Study, sign: Sign, key: RSAPrivateKey
) -> None:
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head, claims, _ = sign(by="x" * 32, algorithm="HS256").split(".")
    made = hmac.digest(public, f"{head}.{claims}".encode(), "sha256")
    token = f"{head}.{claims}.{jwt.utils.base64url_encode(made).decode()}"
    assert client.get(opened(client, token)).status_code == 422


def test_where_nobody_demands_it_such_a_link_is_one_without_a_signature(client: Client, sign: Sign) -> None:
    make_study(recruitment="prolific")
    personal, stranger = begun(client), Client()
    clean = opened(stranger, sign(exp=1), "&PROLIFIC_PID=5f01")
    assert come(stranger, clean) != personal
    assert Participant.objects.count() == 1


def test_why_it_was_not_taken_is_in_the_log_and_the_token_is_not(
    client: Client, study: Study, sign: Sign, caplog: pytest.LogCaptureFixture
) -> None:
    token = sign(exp=1)
    with caplog.at_level(logging.DEBUG):
        opened(client, token)
    assert "small: a signed link of Prolific was not taken: ExpiredSignatureError" in caplog.text
    assert token not in caplog.text


@pytest.mark.parametrize(
    "audience", ["testserver", "http://testserver", "http://testserver/s/small?PROLIFIC_PID=5f01", [HERE]]
)
def test_our_name_or_the_page_of_the_study_is_the_audience(
    audience: Any, client: Client, study: Study, sign: Sign
) -> None:
    assert client.get(opened(client, sign(aud=audience))).status_code == 200


def test_another_way_of_recruiting_only_loses_the_token(client: Client, sign: Sign) -> None:
    make_study(recruitment="label")
    assert opened(client, sign(), "&label=ann") == "/s/small/?label=ann"


def test_by_label_only_the_links_of_this_server_open_it(admin_client: Client) -> None:
    make_study(recruitment="label", signed_only=True)
    assert "the complete link" in text_of(Client().get("/s/small/?label=ann"))
    page = text_of(admin_client.get("/staff/small/design/recruitment/?links=1"))
    link = page.partition('tabindex="0"')[2].partition("/s/small/")[2].splitlines()[0]
    assert Client().get("/s/small/" + link.replace("&amp;", "&")).status_code == 200


def test_only_platforms_that_sign_links_can_require_it(admin_client: Client) -> None:
    study = make_study(recruitment="prolific")
    form = {"recruitment": "sona", "signed_only": "on", "closes_at": ""}
    page = admin_client.post("/staff/small/design/recruitment/", form)
    assert page.status_code == 422 and "can be signed" in text_of(page)
    form = {**form, "recruitment": "prolific"}
    page = admin_client.post("/staff/small/design/recruitment/", form)
    assert page.status_code == 422 and "without the ID of your workspace" in text_of(page)
    admin_client.post("/staff/small/design/recruitment/", {**form, "prolific_workspace": "w1"})
    study.refresh_from_db()
    assert (study.signed_only, study.prolific_workspace) == (True, "w1")


@pytest.mark.parametrize("place", ["anonymous", "mturk", "sona"])
def test_where_nothing_can_be_signed_only_signed_links_lets_nobody_in(place: str, client: Client) -> None:
    make_study(recruitment=place, signed_only=True)
    page = client.get("/s/small/?survey_code=7&workerId=W7")
    assert page.status_code == 422 and "only with a signed link" in text_of(page)


def test_programs_still_come_by_invitation(client: Client, study: Study) -> None:
    page = text_of(client.get(LINK))
    form = {"entry": field(text_of(client.get(f"{LINK}&invitation=x")), "entry")}
    assert "Open the study on Prolific again" in page
    for invitation in ("", "x"):
        assert client.post(LINK, {**form, "invitation": invitation}).status_code == 422
    made = client.post(LINK, {**form, "invitation": synthetic_invitation(study)})
    person = Participant.objects.get()
    assert person.synthetic and made.status_code == 302 and not person.label
