"""The timeline of a team in the replay: lanes, bars and arrows, and steps to press."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.test import Client
from playwright.async_api import Browser, Page, Route

from kitchen.contract.team_messages import MessageDraft
from kitchen.play.coplayers.answer_messages import send_message
from kitchen.play.models import Episode
from kitchen.replay import team_timeline as layout
from kitchen.replay.episode_record import EpisodeRecord, read_episode_records
from kitchen.replay.team_timeline import BAR, GAP, HEAD, WIDE, TeamTimeline, team_timeline
from study.participants.models import Round
from study.participation.page_progress import finish_page
from tests.browser import IN_A_BROWSER, SHOTS
from tests.journeys.axe import violations
from tests.kitchen.factories import make_episode
from tests.kitchen.play.test_leading import LEAD, give, led, opened, take
from tests.nightly import nightly
from tests.study.factories import enter, make_study

HOST = "http://timeline.test"
STEPS = 8


@pytest.fixture
def episode(db: None) -> Episode:
    """A person leads three followers for eight steps: a job is done, one fails, one is declined, one is taken
    back, and one is open at the end."""
    episode = led(patience=3)
    opened(episode)
    give(episode, 1, aim=("fetch", "rice"))
    give(episode, 0, aim=("fetch", "salmonSashimi"))
    give(episode, 2, text="be quick")
    take(episode, 4)
    give(episode, 0, aim=("serve", "salmonSushi"))
    say = MessageDraft("", "withdraw", (0,), {"job": Episode.objects.get(pk=episode.pk).messages})
    take(episode)
    assert send_message(episode_id=episode.pk, seat=LEAD, say=say).accepted
    take(episode, 3)
    give(episode, 2, aim=("fetch", "rice"))
    episode.refresh_from_db()
    return episode


@pytest.fixture
def record(episode: Episode) -> EpisodeRecord:
    (record,) = read_episode_records(Episode.objects.filter(pk=episode.pk))
    return record


@pytest.fixture
def timeline(record: EpisodeRecord) -> TeamTimeline:
    found = team_timeline(record)
    assert found is not None
    return found


@pytest.fixture
def address(episode: Episode, client: Client) -> str:
    """Of the replay of the episode, for a viewer who is logged in."""
    study = make_study(conditions=1)
    person = enter(study)
    finish_page(participant_id=person.pk, page="guide")
    Round.objects.filter(participant=person, position=1).update(episode=episode, seat=LEAD)
    viewer = User.objects.create_user("vera", is_staff=True)
    study.memberships.create(user=viewer, role="viewer")
    client.force_login(viewer)
    return f"/staff/{study.slug}/replay/{episode.key}/"


def test_each_member_has_a_lane_with_the_jobs_that_it_got(timeline: TeamTimeline) -> None:
    assert timeline.lanes[0].name == "Lead"
    assert len(timeline.lanes) == LEAD + 1
    lead, first, *_ = timeline.lanes
    assert (lead.height, first.top) == (HEAD, HEAD), "nobody gives jobs to the leader"
    states = {bar.words.split(",")[0]: bar.state for bar in timeline.bars}
    assert sorted(states.values()) == ["declined", "done", "failed", "given", "withdrawn"]
    done = next(bar for bar in timeline.bars if bar.state == "done")
    assert (done.x, done.column, done.width) == (1, 0, 3 * WIDE - GAP)
    assert "Lead to Robot 2" in done.words and "Fetch rice: done, steps 1 to 3" in done.words
    assert {bar.y for bar in timeline.bars if bar.words.count("to Robot 1")} == {first.top + HEAD}
    ends = [bar.x + bar.width for bar in timeline.bars if bar.state == "given"]
    assert ends == [timeline.width - GAP + 1], "an open job lasts to the end"


def test_every_message_is_an_arrow_and_a_row(timeline: TeamTimeline, record: EpisodeRecord) -> None:
    assert len(timeline.events) == len(record.messages)
    assert len(timeline.arrows) == sum(len(one.to) for one in record.messages)
    first = timeline.events[0]
    assert (first.step, first.who, first.what) == (1, "Lead to Robot 2 (seat 1)", "inform; job 1 given")
    assert any(event.what == "report; job 2 failed" for event in timeline.events)
    arrow = timeline.arrows[0]
    lead, _, second, _ = timeline.lanes
    assert (arrow.y, arrow.to_y, arrow.is_mark) == (lead.line, second.line, False)
    in_first = [one.x for one in timeline.arrows if one.column == 0]
    assert len(set(in_first)) == len(in_first), "those of one step lie beside one another"


def test_overlapping_jobs_lie_below_one_another(record: EpisodeRecord) -> None:
    given = next(one for one in record.messages if one.data.get("aim"))
    again = copy(given)
    again.number = 2
    record.messages[:] = [given, again]
    found = team_timeline(record)
    assert found is not None
    assert sorted(bar.y for bar in found.bars)[1] - found.bars[0].y == BAR


def test_long_episodes_have_several_steps_in_a_column(
    record: EpisodeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "MOST_COLUMNS", 3)
    found = team_timeline(record)
    assert found is not None
    assert [first for _, _, first, _ in found.ticks] == [1, 4, 7]
    assert max(arrow.column for arrow in found.arrows) == 2


@pytest.mark.django_db
def test_an_episode_without_an_organisation_has_none(client: Client) -> None:
    (record,) = read_episode_records(Episode.objects.filter(pk=make_episode().pk))
    assert team_timeline(record) is None


def test_the_page_goes_to_a_step_without_scripts(client: Client, address: str) -> None:
    page = client.get(address).content.decode()
    assert page.count('form="replay-form" name="go"') == STEPS + 1
    assert 'fill="url(#team-failed)"' in page and "style=" not in page.split("data-team-timeline")[1]
    assert 'data-step="6"' in client.get(address, {"step": "0", "go": "6"}).content.decode()
    assert f'data-step="{STEPS}"' in client.get(address, {"step": "0", "go": "99"}).content.decode()


@pytest.fixture
def pages(client: Client, address: str) -> Iterator[dict[tuple[str, bool], tuple[str, str]]]:
    """(body, content security policy) of the page and of its part, by number of steps taken."""
    found = {}
    for step in range(STEPS + 1):
        for part in (False, True):
            answer = client.get(f"{address}?step={step}{'&part=1' if part else ''}")
            found[str(step), part] = answer.content.decode(), answer["Content-Security-Policy"]
    yield found


async def replay_page(
    browser: Browser, pages: dict[tuple[str, bool], tuple[str, str]], width: int
) -> tuple[Page, list[str]]:
    """The page in the browser, and what its console says."""

    async def serve(route: Route) -> None:
        parts = urlsplit(route.request.url)
        if parts.path != "/":
            file = finders.find(parts.path[8:]) if parts.path.startswith("/static/") else None
            await (route.fulfill(path=file) if file else route.fulfill(status=404, body=""))
            return
        asked = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        go = asked.get("go", "")
        body, policy = pages[go if go.isdecimal() else asked.get("step", "0"), "part" in asked]
        headers = {"Content-Security-Policy": policy, "Content-Type": "text/html; charset=utf-8"}
        await route.fulfill(body=body, headers=headers)

    context = await browser.new_context(viewport={"width": width, "height": 900})
    page, problems = await context.new_page(), list[str]()
    page.on("console", lambda one: problems.append(one.text) if "Security" in one.text else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    await page.route("**/*", serve)
    await page.goto(f"{HOST}/")
    return page, problems


async def shows(page: Page, step: int) -> bool:
    await page.wait_for_selector(f'#replay-told[data-step="{step}"]')
    marked = await page.locator(".team-steps [aria-current=step]").get_attribute("value")
    return marked == str(min(step, STEPS))


class TestInABrowser:
    """Clicks and keys on the timeline, in a wide and in a narrow window."""

    pytestmark = IN_A_BROWSER

    @pytest.mark.parametrize("width", [360, *nightly(1440)])  # axe looks at both widths each time
    async def test_clicks_and_keys_go_to_a_step(
        self, browser: Browser, pages: dict[tuple[str, bool], tuple[str, str]], width: int
    ) -> None:
        page, problems = await replay_page(browser, pages, width)
        assert await shows(page, 0)
        if SHOTS:
            await page.screenshot(path=Path(SHOTS) / f"whole-{width}.png", full_page=True)
            await page.locator(".team-timeline").screenshot(path=Path(SHOTS) / f"team-{width}.png")
        await page.locator('.team-steps button[data-column="4"]').click()
        assert await shows(page, 4)
        await page.locator(".team-drawing g.arrow[data-column='0'] circle").first.click()
        assert await shows(page, 0)
        bar = page.locator("g[data-column='4'] .team-bar").first
        await bar.click(position={"x": 2, "y": 4})
        assert await shows(page, 4)
        assert await page.locator(".team-steps button[tabindex='0']").count() == 1
        await page.locator(".team-steps button[tabindex='0']").focus()
        for key in ("ArrowRight", "ArrowRight", "Enter"):
            await page.keyboard.press(key)
        assert await shows(page, 6)
        await page.keyboard.press("Home")
        await page.keyboard.press("Space")
        assert await shows(page, 0)
        assert await page.evaluate(f"document.documentElement.scrollWidth <= {width}")
        await page.locator(".team-timeline summary").click()
        assert await page.locator(".team-timeline table tbody tr").count() > STEPS
        assert problems == []
        assert await violations(page, "team timeline") == []
