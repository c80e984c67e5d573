"""A researcher sends programs through a study from the console, watches how far they are, and stops a run."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

from playwright.async_api import Page, expect

from tests.browser import NIGHTLY_IN_A_BROWSER
from tests.journeys.person import Person, condition, load_study
from tests.journeys.test_live_study_page import log_in, picture
from tests.servers import Stack

pytestmark = NIGHTLY_IN_A_BROWSER  # tests/study/pilot/test_dry_running has the pages by request

LOOK = """
from study.design.models import Study
study = Study.objects.get(slug="{slug}")
there = study.participants.all()
print(sorted(there.values_list("status", flat=True)), all(one.synthetic for one in there))
print([(run.state, run.done, run.participants) for run in study.dry_runs.all()])
"""


async def test_a_dry_run_is_started_watched_and_stopped_on_a_page(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    live_stack.start_experimenter()
    slug = f"journey-{secrets.token_hex(3)}"
    languages = 'languages = ["en", "es"]'  # programs find the page's form beside that to choose one
    load_study(live_stack, tmp_path, slug, condition("one", "planner", 1), steps=4, more=languages)
    staff = Person(page)
    await log_in(page, live_stack)
    await page.goto(f"/staff/{slug}/design/")
    await page.click("a:has-text('Dry run with programs')")
    await expect(page.get_by_role("status")).to_have_text("No dry run was started on this page yet.")
    await picture(page, "dry-run-none")

    await page.fill("#id_participants", "4")
    await page.fill("#id_drop_outs", "25")
    await page.fill("#id_withdrawals", "25")
    await page.click("text=Start the dry run")
    news = page.locator("#dry-runs-news")
    await expect(news).to_contain_text("of 4 done", timeout=60_000)
    await expect(news).to_have_text("The last dry run has finished: 4 of 4 done.", timeout=120_000)
    row = page.locator("#dry-runs tbody tr").first
    await expect(row).to_contain_text("2 finished, 1 dropped out, 1 withdrew, 0 refused")
    await picture(page, "dry-run-finished")

    await page.fill("#id_participants", "200")
    await page.fill("#id_at_once", "1")
    await page.click("text=Start the dry run")
    await expect(page.locator("#dry-runs tbody tr")).to_have_count(2)
    await expect(news).to_contain_text("A dry run is running", timeout=60_000)
    await page.locator("#dry-runs tbody button").first.focus()
    await expect(news).to_contain_text(re.compile(r"\b[1-9]\d* of 200 done"), timeout=60_000)
    assert await page.evaluate("document.activeElement.id.startsWith('stop-')"), "news take the focus away"
    await picture(page, "dry-run-on")
    await page.keyboard.press("Enter")
    await expect(news).to_contain_text("The last dry run was stopped", timeout=60_000)
    await picture(page, "dry-run-stopped")

    people, runs = live_stack.manage("shell", "-v", "0", "-c", LOOK.format(slug=slug)).splitlines()
    assert people.endswith("True")
    assert people.count("timed_out") == 1
    assert people.count("complete") >= 3
    assert runs.startswith("[('stopped', ")
    assert runs.endswith(", ('finished', 4, 4)]")
    assert not staff.problems
