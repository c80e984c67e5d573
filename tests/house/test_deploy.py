"""`deploy/`: what is written there can be run, and is the same wherever it stands."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import ssl
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext

from brigade import app_processes, restart, runner, server_limits
from brigade.paths import base_dir
from brigade.server_limits import POLICY_FILES
from kitchen.infra.event_loop import FINISH_SECONDS
from kitchen.infra.os_processes import TICKER_NICENESS
from study.design.media.media_limits import FORM_BYTES, HIGHEST_MIB, MIB
from study.pilot.bots.http_browser import Browser, PatienceLimit

ROOT = base_dir()
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("systemd/*"))
SERVICES = [unit for unit in UNITS if unit.suffix == ".service"]
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
NGINX, CADDY = (DEPLOY / "nginx.conf").read_text(), (DEPLOY / "Caddyfile").read_text()
OF_CONTAINERS = {"POSTGRES_PASSWORD", "VALKEY_PASSWORD"}
WHERE = {"--fd", "-b", "-p", "-n"}
"""Options that are another's wherever it is started: where it listens, what it is called."""


def command_of(unit: Path) -> list[str]:
    """What a unit starts."""
    (line,) = re.findall(r"^ExecStart=(.+)$", unit.read_text(), re.MULTILINE)
    return shlex.split(line)


def commands() -> dict[str, list[str]]:
    """Every command in `deploy/`, by where it stands."""
    found = {unit.name: command_of(unit) for unit in SERVICES}
    found |= {name: COMPOSE["services"][name]["command"] for name in ("app-1", "app-2", "prepare")}
    found["Containerfile"] = yaml.safe_load(re.findall(r"^CMD (.+)$", CONTAINERFILE, re.MULTILINE)[0])
    return found


def essence(command: list[str]) -> list[str]:
    """A command from Python's arguments on, without `WHERE` and what follows each."""
    start = next(number for number, word in enumerate(command) if word in {"-m", "manage.py"})
    words = command[start:]
    return [
        word
        for number, word in enumerate(words)
        if word not in WHERE and (number == 0 or words[number - 1] not in WHERE)
    ]


@pytest.mark.parametrize(("name", "command"), commands().items())
def test_what_is_started_is_there(name: str, command: list[str]) -> None:
    words = essence(command)
    if words[0] == "manage.py":
        assert words[1] in get_commands()
    else:
        assert find_spec(words[1]) is not None


def test_units_containers_and_make_run_start_the_same() -> None:
    found, nothing = {name: essence(command) for name, command in commands().items()}, dict[str, str]()
    web = essence(list(app_processes.web_processes(nothing, 3, 1)[0].command))
    assert found["brigade-web@.service"] == web
    staff = essence(list(app_processes.staff_process(nothing, 3).command))
    assert found["brigade-staff.service"] == staff
    people = essence(list(app_processes.people_worker(nothing).command))
    assert found["brigade-people@.service"] == people
    experiments = essence(list(app_processes.experiment_worker(nothing).command))
    assert found["brigade-experiments.service"] == experiments
    everything = ["-m", "brigade.runner", runner.ONLY_MIGRATE]
    assert found["brigade.service"] == found["Containerfile"] == everything
    assert found["app-1"] == found["app-2"] == everything


def test_nobodys_word_about_addresses_is_believed_blindly() -> None:
    assert not any("--proxy-headers" in file.read_text() for file in DEPLOY.rglob("*") if file.is_file())


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.name)
def test_a_unit_runs_as_our_user_and_may_do_little(unit: Path) -> None:
    lines = set(unit.read_text().splitlines())
    assert {"User=brigade", "UMask=0077", "NoNewPrivileges=yes", "ProtectSystem=strict"} <= lines
    assert "Type=oneshot" in lines or {"Restart=always", "StartLimitIntervalSec=0", "Type=notify"} <= lines


def seconds_to_stop(unit: str) -> int:
    """How long systemd waits for the end of this unit."""
    return int(re.findall(r"^TimeoutStopSec=(\d+)$", (DEPLOY / "systemd" / unit).read_text(), re.M)[0])


def test_what_is_asked_to_end_has_time_to_finish() -> None:
    """Also in the whole app, which ends its Redis server last."""
    nothing, seldom = dict[str, str](), {"BRIGADE_DECISION_SECONDS": "80"}
    web = [*app_processes.web_processes(nothing, 3, 2), app_processes.staff_process(nothing, 3)]
    assert {each.seconds_to_end for each in web} == {server_limits.LAST_SECONDS + 2}
    for make in (app_processes.people_worker, app_processes.experiment_worker):
        assert make(nothing).seconds_to_end > settings.DECISION_SECONDS + FINISH_SECONDS
        assert make(seldom).seconds_to_end > 80 + FINISH_SECONDS
        assert make({"BRIGADE_DECISION_SECONDS": "soon"}).seconds_to_end == make(nothing).seconds_to_end
    last = app_processes.valkey_process(nothing).seconds_to_end
    longest = app_processes.people_worker(seldom).seconds_to_end + last
    grace = int(COMPOSE["services"]["app-1"]["stop_grace_period"].rstrip("s"))
    assert min(seconds_to_stop("brigade.service"), grace) > longest
    assert seconds_to_stop("brigade-web@.service") > server_limits.LAST_SECONDS
    assert seconds_to_stop("brigade-people@.service") > settings.DECISION_SECONDS + FINISH_SECONDS


def test_a_reload_of_the_whole_app_waits_until_all_was_replaced() -> None:
    """And a process that the system kills for want of memory does not end the others."""
    lines = (DEPLOY / "systemd/brigade.service").read_text().splitlines()
    (reload,) = (line.removeprefix("ExecReload=") for line in lines if line.startswith("ExecReload="))
    assert essence(shlex.split(reload)) == ["-m", restart.__name__, restart.WAIT]
    assert {"OOMPolicy=continue", "Sockets=brigade.socket", f"LimitNICE={TICKER_NICENESS}"} <= set(lines)


def test_both_kinds_of_units_never_listen_at_once() -> None:
    own, single = ((DEPLOY / f"systemd/{name}.socket").read_text() for name in ("brigade", "brigade-web"))
    (address,) = re.findall(r"^ListenStream=(.+)$", own, re.M)
    assert f"ListenStream={address}\n" in single
    assert "Conflicts=brigade-web.socket\n" in own
    assert ".socket" not in (DEPLOY / "systemd/brigade.target").read_text()


def test_systemd_finds_nothing_wrong(tmp_path: Path) -> None:
    """With the paths of this clone; the user need not exist."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd-analyze on the path")
    for unit in UNITS:
        text = unit.read_text().replace("/srv/brigade", str(ROOT))
        (tmp_path / unit.name.replace("@.", "@1.")).write_text(text)
    done = subprocess.run(
        [analyze, "verify", "--man=no", "--recursive-errors=no", *map(str, tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_environment_file_names_every_variable() -> None:
    """Those of the operators' table, and no other; each with a line above it."""
    section = (ROOT / "docs/variables.md").read_text()
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    told = {name for cell in rows for name in re.findall(r"`([A-Z_]+)`", cell)}
    lines = (DEPLOY / "brigade.env.example").read_text().splitlines()
    found = re.compile(r"#?([A-Z]+_[A-Z_]+)=")
    named = {match[1]: number for number, line in enumerate(lines) if (match := found.match(line))}
    assert told <= named.keys()
    assert named.keys() - told == OF_CONTAINERS
    assert all(number and lines[number - 1].startswith("#") for number in named.values())


def test_every_image_is_pinned_and_nobody_is_root_in_ours() -> None:
    images = [service["image"] for service in COMPOSE["services"].values() if service["image"] != "brigade"]
    images += re.findall(r"^FROM (\S+)", CONTAINERFILE, re.MULTILINE)
    assert all(re.search(r":\d+\.\d+", image) for image in images)
    assert CONTAINERFILE.rindex("USER 10001") > CONTAINERFILE.rindex("RUN ")
    ours = [service for service in COMPOSE["services"].values() if service["image"] == "brigade"]
    assert all(one["cap_drop"] == ["ALL"] and one["read_only"] for one in ours)


def test_every_folder_of_the_app_is_in_the_image() -> None:
    copied = set(re.findall(r"^COPY (\w+)", CONTAINERFILE, re.MULTILINE))
    assert {"brigade", "kitchen", "study", "static", "templates"} <= copied
    assert not {"var", "tests"} & copied


@pytest.mark.parametrize("conf", [NGINX, CADDY], ids=["nginx", "caddy"])
def test_a_proxy_has_our_limits(conf: str) -> None:
    head, body = server_limits.HEAD_SECONDS, server_limits.BODY_SECONDS
    assert re.search(rf"header(_timeout)? +{head:g}s", conf)
    assert re.search(rf"body(_timeout)? +{body:g}s", conf)
    size, media, file = re.findall(r"max_(?:body_)?size +(\d+)(?:m;|MiB)", conf)
    assert int(media) * MIB > HIGHEST_MIB * MIB + FORM_BYTES
    assert int(file) * MIB > server_limits.LARGEST_STUDY_FILE > server_limits.LARGER_BODIES[POLICY_FILES]
    assert server_limits.LARGEST_BODY < int(size) * 2**20 < 2 * server_limits.LARGEST_BODY


@pytest.mark.parametrize("conf", [NGINX, CADDY], ids=["nginx", "caddy"])
def test_a_proxy_lets_larger_files_through_where_the_app_takes_them(conf: str) -> None:
    found = re.findall(r"(?:location ~|@\w+ (?:not )?path_regexp) (\^/staff/\S+\$)", conf)
    design = reverse("study:staff-design-file", args=["a-b"]).removesuffix("file/")
    takes = [f"{design}{page}/" for page in ("media", "file", "file/take")]
    for address in (*takes, reverse("study:staff-new-file"), POLICY_FILES):
        assert server_limits.largest_body(address) > server_limits.LARGEST_BODY
        fitting = [one for one in found if re.fullmatch(one, address)]
        assert len(fitting) == (2 if conf is CADDY else 1), (
            "one place; in Caddy also what the rest leaves out"
        )
    assert not [one for one in found for name in ("items", "files") if re.fullmatch(one, f"{design}{name}/")]


def shown_by(page: Path, language: str = "en") -> list[str]:
    """Its heading and its paragraphs in this language, of the app's page or of one that has all of them."""
    with translation.override(language):
        text = re.sub(r'{% translate "(.+?)" %}', lambda found: gettext(found[1]), page.read_text())
    english, *others = re.split(r'<section lang="(.+?)">', text)
    told = dict(zip(map(str.lower, others[::2]), others[1::2], strict=True))
    return re.findall(r"<(?:h1|h2|p)\b[^>]*>(.+?)</(?:h1|h2|p)>", told.get(language, english), re.DOTALL)


@pytest.mark.parametrize("language", ["en", "es", "zh-hans"])
def test_what_is_too_long_is_refused_with_the_words_of_the_app(language: str) -> None:
    words = shown_by(ROOT / "templates/413.html", language)
    assert shown_by(DEPLOY / "pages/413.html", language) == words
    assert len(shown_by(DEPLOY / "pages/away.html", language)) == 2


def test_a_proxy_has_a_page_for_whatever_it_says_itself() -> None:
    """Caddy says 503, too, while it leaves the only app out; nginx would hold its page to the limit."""
    told = dict(re.findall(r"handle_errors ([\d ]+) \{.+?rewrite /(\S+)", CADDY, re.DOTALL))
    assert told == {"502 503 504": "away.html", "413": "413.html"}
    assert re.findall(r"error_page ([\d ]+) /(\S+);", NGINX) == [
        ("502 504", "away.html"),
        ("413", "413.html"),
    ]
    (pages,) = re.findall(r"location ~ \^/\(away\|413\)\S+ \{(.+?)\}", NGINX, re.DOTALL)
    assert "internal;" in pages and "client_max_body_size 0;" in pages
    assert "proxy_intercept_errors" not in NGINX and "handle_response" not in CADDY


def test_the_guide_names_what_caddy_takes_from_the_environment() -> None:
    guide = (ROOT / "docs/web-server.md").read_text()
    taken = dict(re.findall(r"\{\$([A-Z_]+):([^}]+)\}", CADDY))
    assert taken.keys() == {"SITE", "UPSTREAMS", "PAGES", "HTTP_PORT"}
    for name, default in taken.items():
        assert re.search(rf"^\| `{name}` \|.+\| `{re.escape(default)}` \|$", guide, re.MULTILINE)


async def test_a_dry_run_trusts_the_certificates_that_it_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of Caddy's own CA, whose root the guide names."""
    make_certificate(tmp_path)
    served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    served.load_cert_chain(tmp_path / "fullchain.pem", tmp_path / "privkey.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "fullchain.pem"))
    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0, ssl=served)
    async with server, Browser(PatienceLimit(0)) as browser:
        port = server.sockets[0].getsockname()[1]
        assert (await browser.client.get(f"https://localhost:{port}/")).status_code == 204


async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A web server for one request."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    await writer.drain()
    writer.close()


def test_nginx_slows_down_logins() -> None:
    """Of forms only, in a zone that is defined."""
    (login,) = re.findall(r"location = (\S+) \{\s+limit_req +zone=(\w+) burst=\d+ nodelay;", NGINX)
    assert (reverse("admin:login"), "brigade_logins") == login
    assert re.search(r"limit_req_zone \$brigade_login zone=brigade_logins:10m rate=30r/m;", NGINX)
    assert re.search(
        r"map \$request_method \$brigade_login \{\s+default '';\s+POST +\$binary_remote_addr;", NGINX
    )


def test_nginx_limits_requests_of_staff_and_programs() -> None:
    """In zones that are defined, by the address of who asks."""
    limited = dict(re.findall(r"location (?:~ )?(\S+) \{\s+limit_req +zone=(\w+) burst=\d+ nodelay;", NGINX))
    zones = re.findall(r"limit_req_zone \$binary_remote_addr zone=(\w+):10m rate=\d+r/s;", NGINX)
    assert limited == {"^/(staff|admin)/": "brigade_staff", "/api/": "brigade_api"}
    assert sorted(zones) == ["brigade_api", "brigade_staff"]


def test_each_container_of_the_app_has_a_folder_of_its_own_and_the_proxy_knows_all() -> None:
    apps = {name: one for name, one in COMPOSE["services"].items() if name.startswith("app-")}
    folders = {one["environment"]["BRIGADE_VAR"] for one in apps.values()}
    assert len(folders) == len(apps) == 2
    assert COMPOSE["services"]["proxy"]["environment"]["UPSTREAMS"].split() == [
        f"{name}:{one['environment']['BRIGADE_PORT']}" for name, one in apps.items()
    ]


def test_containers_of_the_app_have_one_key_and_one_of_them_the_files_of_staff() -> None:
    """A key that is not set is refused, since each folder would get one of its own."""
    for name in ("app-1", "app-2", "prepare"):
        assert COMPOSE["services"][name]["environment"]["BRIGADE_SECRET_KEY"] == "${BRIGADE_SECRET_KEY:?}"
    staff = re.findall(r"^\t@staff path (.+)$", CADDY, re.MULTILINE)
    assert [path.removesuffix("*").encode() for path in staff[0].split()] == [
        path for path in server_limits.STAFF_PROCESS_PATHS if path != b"/metrics"
    ]
    assert re.findall(r"^\timport app (.+)$", CADDY, re.MULTILINE) == ["@staff first", "* least_conn"]
    assert "lb_policy {args[1]}" in CADDY


def test_a_proxy_writes_no_address_of_a_participant_down() -> None:
    servers = NGINX.split("\nserver {")[1:]
    assert all(re.search(r"^    access_log +off;", server, re.MULTILINE) for server in servers)
    assert re.search(r"\^/\(p\|ws\)/ \{\s+error_log +/dev/null", NGINX)
    assert "request>uri delete" in CADDY and "\n\tlog\n" not in CADDY and "output" not in CADDY


def test_nginx_finds_nothing_wrong(tmp_path: Path) -> None:
    """With a certificate that is there, and ports that anybody may take."""
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if nginx is None:
        pytest.skip("no nginx on the path")
    make_certificate(tmp_path)
    site = re.sub(r"/etc/letsencrypt/live/study.example.org", str(tmp_path), NGINX)
    (tmp_path / "site.conf").write_text(site.replace("/var/log/nginx", str(tmp_path)))
    whole = f"pid {tmp_path}/pid; events {{}} http {{ access_log off; include {tmp_path}/site.conf; }}"
    (tmp_path / "nginx.conf").write_text(whole)
    asked = [
        nginx,
        "-t",
        "-q",
        "-e",
        str(tmp_path / "log"),
        "-p",
        str(tmp_path),
        "-c",
        str(tmp_path / "nginx.conf"),
    ]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def make_certificate(folder: Path) -> None:
    """`fullchain.pem` and `privkey.pem`, signed by itself."""
    names = [
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost",
        "-keyout",
        str(folder / "privkey.pem"),
        "-out",
        str(folder / "fullchain.pem"),
    ]
    asked = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        *names,
    ]
    subprocess.run(asked, capture_output=True, check=True)


def test_caddy_finds_nothing_wrong(tmp_path: Path) -> None:
    caddy = shutil.which("caddy")
    if caddy is None or caddy_version(caddy) < (2, 8):
        pytest.skip("no caddy on the path, or one before 2.8")
    asked = [caddy, "adapt", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
    done = subprocess.run(
        asked, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def caddy_version(caddy: str) -> tuple[int, ...]:
    """As 2.11."""
    said = subprocess.run([caddy, "version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(number) for number in re.findall(r"\d+", said)[:2])


STAND_IN = """#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
case "$*" in
*list-units*web@*) echo "brigade-web@1.service loaded active"; echo "brigade-web@2.service loaded active" ;;
*list-units*staff*) echo "brigade-staff.service loaded active" ;;
*list-units*people@*) echo "brigade-people@1.service loaded active" ;;
*list-units*ticker@*) echo "$TICKERS" ;;
*"list-units"*" brigade.service") echo "$WHOLE" ;;
"show --property=Listen --value $SOCKET") echo "$LISTENS" ;;
"restart $BROKEN" | "reload $BROKEN") exit 1 ;;
esac
"""
"""Of a program that needs root: notes that it was called."""


def updated(tmp_path: Path, broken: str = "", tickers: str = "", **told: str) -> tuple[int, list[str]]:
    """What `deploy/update` asks systemd for, one unit of which may not come up, where these `tickers` or the
    `whole` app run, and a `socket` `listens` somewhere; and its exit code."""
    clone, calls = tmp_path / "clone", tmp_path / "calls"
    shutil.copytree(DEPLOY, clone / "deploy")
    for name in ("bin/systemctl", "bin/curl", "bin/install", "bin/python3", "clone/.venv/bin/python"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(STAND_IN)
        file.chmod(0o755)
    given = dict.fromkeys(("WHOLE", "SOCKET", "LISTENS"), "") | {name.upper(): told[name] for name in told}
    own = {"CALLS": str(calls), "BROKEN": broken, "TICKERS": tickers}
    environment = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", **own, **given}
    done = subprocess.run([clone / "deploy/update"], env=environment, capture_output=True, check=False)
    return done.returncode, calls.read_text().splitlines()


@pytest.mark.parametrize("tickers", ["brigade-ticker@1.service loaded active", ""])
def test_an_update_exchanges_one_after_the_other_beside_one_more(tmp_path: Path, tickers: str) -> None:
    code, calls = updated(tmp_path, tickers=tickers)
    asked = [
        call.removeprefix("systemctl ").replace(".service", "")
        for call in calls
        if "list-units" not in call and " show " not in call
    ]
    assert code == 0
    assert asked[asked.index("daemon-reload") :] == [
        "daemon-reload",
        "start brigade-migrate",
        "start brigade-web@spare brigade-people@spare brigade-ticker@spare",
        (ready := calls[-1]),
        *[
            word
            for unit in ("web@1", "web@2", "staff", "people@1", "ticker@1", "experiments")
            for word in (f"restart brigade-{unit}", ready)
        ],
        "stop brigade-web@spare brigade-people@spare brigade-ticker@spare",
        ready,
    ]


WHOLE = "brigade.service loaded active"


def test_an_update_of_the_whole_app_is_one_reload(tmp_path: Path) -> None:
    code, calls = updated(tmp_path, whole=WHOLE)
    assert code == 0
    looks = ("systemctl list-units", "systemctl show")
    asked = [call for call in calls if call.startswith("systemctl") and not call.startswith(looks)]
    assert asked == ["systemctl daemon-reload", "systemctl reload brigade.service"]
    assert calls[-1].startswith("curl ")
    assert calls[-1].endswith(f" http://{first_listener('brigade.socket')}/ready")


def first_listener(unit: str) -> str:
    """Where a socket unit of ours listens, unless somebody has changed it."""
    (address,) = re.findall(r"^ListenStream=(.+)$", (DEPLOY / "systemd" / unit).read_text(), re.M)
    return str(address)


@pytest.mark.parametrize(
    ("whole", "socket"), [(WHOLE, "brigade.socket"), ("", "brigade-web.socket")], ids=["whole", "single"]
)
def test_an_update_asks_where_the_socket_of_this_machine_listens(
    tmp_path: Path, whole: str, socket: str
) -> None:
    code, calls = updated(tmp_path, whole=whole, socket=socket, listens="10.0.0.11:8001 (Stream)")
    assert code == 0
    assert calls[-1].endswith(" http://10.0.0.11:8001/ready")


def test_an_update_fails_where_the_whole_app_cannot_be_replaced(tmp_path: Path) -> None:
    assert updated(tmp_path, broken="brigade.service", whole=WHOLE)[0] == 1


def test_an_update_ends_with_the_first_that_does_not_come_up(tmp_path: Path) -> None:
    code, calls = updated(tmp_path, "brigade-web@1.service")
    assert code == 1
    assert calls[-1] == "systemctl restart brigade-web@1.service"
