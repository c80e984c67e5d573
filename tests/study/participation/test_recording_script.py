"""The script that records says what it does, closes the microphone in time, and keeps what is not stored yet.

The browser's microphone, recorder, clock and network are stand-ins here, so that no app runs and
nobody waits.
"""

from __future__ import annotations

from typing import Any

from tests.browser import IN_A_BROWSER

pytestmark = IN_A_BROWSER
HOST = "http://localhost:9"  # a browser has microphones for no other address without TLS
STAND_INS = """
let now = 0;
performance.now = () => now;
window.track = Object.assign(new EventTarget(), { open: true, stop() { this.open = false; } });
navigator.mediaDevices.getUserMedia = async () => {
  window.asked = true;
  return { getTracks: () => [track] };
};
window.MediaRecorder = class extends EventTarget {
  static isTypeSupported = () => true;
  state = "inactive";
  constructor() { super(); window.recorder = this; }
  start() { this.state = "recording"; }
  pause() { this.state = "paused"; }
  resume() { this.state = "recording"; }
  requestData() { setTimeout(() => this.give("p", 0)); }
  stop() { this.state = "inactive"; setTimeout(() => this.give("last", 0)); }
  give(text, ms = 5000) {
    now += ms;
    this.dispatchEvent(Object.assign(new Event("dataavailable"), { data: new Blob([text]) }));
  }
};
window.sent = [];
window.answer = (number) => ({ status: 200, ok: true, json: async () => ({ next: number + 1 }) });
window.fetch = async (address, { body }) => {
  const said = new URLSearchParams(address.split("?")[1]);
  const number = Number(said.get("number"));
  window.ms = Number(said.get("ms"));
  window.ended = said.get("ended");
  sent.push(`${number} ${await body.text()}`);
  return answer(number);
};
window.over = () => {
  document.getElementById("bar").dataset.phase = "over";
  document.querySelector("[data-play]").dispatchEvent(new Event("brigade:panels"));
};
"""
PAGE = """<!doctype html><div data-play><p id="bar" data-step="1" data-phase="choose"></p></div>
<section data-recording="/p/key/sound/game/" data-largest="9" data-on="on" data-paused="paused"
data-ended="ended" data-silent="silent" data-behind="behind" data-pause="Pause" data-resume="Resume">
<b data-recording-said></b><button data-recording-pause hidden>Pause</button></section>
<script src="/static/js/recording.js"></script>"""


async def begin(browser: Any) -> Any:
    """Return a play page that records."""
    page = await browser.new_page()
    await page.add_init_script(STAND_INS)
    await page.route(f"{HOST}/", lambda route: route.fulfill(body=PAGE, content_type="text/html"))
    script = "static/js/recording.js"
    await page.route(f"{HOST}/{script}", lambda route: route.fulfill(path=script))
    await page.goto(f"{HOST}/")
    await page.wait_for_function("window.recorder?.state === 'recording'")
    return page


async def state(page: Any, pieces: int) -> Any:
    """Wait until this many pieces were sent. Return the words of the strip, what was sent, and whether the
    microphone is open."""
    await page.wait_for_function(f"sent.length >= {pieces}")
    words = "document.querySelector('[data-recording-said]').textContent"
    return await page.evaluate(f"[{words}, sent, track.open]")


async def test_the_end_of_the_game_sends_the_rest_and_closes_the_microphone(browser: Any) -> None:
    page = await begin(browser)
    await page.evaluate("recorder.give('longer than nine')")
    assert await state(page, 2) == ["on", ["0 longer th", "1 an nine"], True]
    await page.evaluate("over()")
    assert await state(page, 3) == ["ended", ["0 longer th", "1 an nine", "2 last"], False]
    assert await page.evaluate("ended") == "game"


async def test_a_pause_outlives_a_reload_without_a_microphone(browser: Any) -> None:
    page = await begin(browser)
    await page.click("button")
    assert await state(page, 1) == ["paused", ["0 p"], True]
    await page.reload()
    assert (await state(page, 0))[0] == "paused" and not await page.evaluate("window.asked")
    await page.click("button")
    await page.wait_for_function("window.recorder?.state === 'recording'")
    await page.reload()
    await page.wait_for_function("window.recorder?.state === 'recording'")


async def test_a_microphone_that_is_unplugged_is_said_and_stored(browser: Any) -> None:
    page = await begin(browser)
    await page.evaluate("recorder.state = 'inactive'; recorder.give('a', 500)")
    assert await state(page, 1) == ["silent", ["0 a"], False]
    assert await page.evaluate("ended") == "microphone"


async def test_a_server_that_lacks_a_piece_ends_the_recording_in_words(browser: Any) -> None:
    page = await begin(browser)
    await page.evaluate("const usual = answer; void (answer = () => usual(-1))")
    await page.evaluate("recorder.give('a')")
    await page.wait_for_function("!track.open")
    assert await state(page, 1) == ["silent", ["0 a"], False]


async def test_what_waits_is_sent_together_when_the_page_is_left(browser: Any) -> None:
    page = await begin(browser)
    await page.evaluate("void (answer = () => new Promise(() => {}))")
    await page.evaluate("['a', 'b', 'c'].forEach((text) => recorder.give(text))")
    await page.evaluate("window.dispatchEvent(new Event('pagehide'))")
    assert (await state(page, 2))[1:] == [["0 a", "1 bc"], False]


async def test_the_newest_half_second_is_kept_for_a_page_that_is_left(browser: Any) -> None:
    page = await begin(browser)
    await page.evaluate("['a', 'b', 'c'].forEach((text) => recorder.give(text, 500))")
    assert (await state(page, 0))[1] == [], "no request every half second"
    await page.evaluate("(begin => { performance.now = () => begin + 400; })(performance.now())")
    await page.evaluate("window.dispatchEvent(new Event('pagehide'))")
    assert (await state(page, 1))[1:] == [["0 abc"], False]
    assert await page.evaluate("[ms, ended]") == [1500, "page"], "what is lost does not count"


async def test_pieces_are_kept_when_too_many_wait(browser: Any) -> None:
    page = await begin(browser)
    await page.evaluate("void (window.gate = new Promise((done) => { window.go = done; }))")
    await page.evaluate("const usual = answer; void (answer = (number) => gate.then(() => usual(number)))")
    await page.evaluate("for (let at = 0; at < 60; at += 1) recorder.give('x')")
    assert await state(page, 1) == ["ended", ["0 x"], False]
    await page.evaluate("go()")
    assert (await state(page, 61))[1][-1] == "60 last"
