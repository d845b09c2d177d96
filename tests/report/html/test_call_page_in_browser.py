"""The page of a call as a reader meets it, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.report.html.showcase import showcase_call
from voiceharness.report.artefacts import load_call, save_call
from voiceharness.report.html import call_page as module
from voiceharness.report.html.call_page import write_call_page
from voiceharness.report.html.sound import Sound

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser import Browser, Page

__all__: list[str] = []

FRAME = 0.02

PLAYED_TO = """
const moved = (test) => new Promise((done) => {
  const look = () => test() ? done() : requestAnimationFrame(look);
  look();
});
"""

DECODED = """
const data = await (await fetch(document.getElementById("sound").src)).arrayBuffer();
const rate = JSON.parse(document.getElementById("call").textContent).rate;
const sound = await new OfflineAudioContext(2, 1, rate).decodeAudioData(data);
const track = sound.getChannelData(1);
return [sound.duration, Array.from(track.slice(19 * rate, 21 * rate), (value) => Math.round(value * 32767))];
"""

INK = """
const ink = (canvas) => {
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let drawn = 0;
  for (let at = 3; at < data.length; at += 4) drawn += data[at] > 0;
  return drawn / (data.length / 4);
};
return [...document.querySelectorAll(".lane canvas")].map(ink);
"""


def test_both_lanes_are_drawn_with_waveform_and_spectrogram(page: Page) -> None:
    drawn = page.run(INK)
    assert len(drawn) == 2
    assert all(0.05 < share < 0.9 for share in drawn)


def test_the_decoded_sound_is_as_long_as_the_call_and_in_step_with_it(browser: Browser, call_page_file: Path) -> None:
    record = load_call(call_page_file.parent)
    loose = browser.open(_without_policy(call_page_file))  # the page itself may not fetch
    duration, heard = loose.run(DECODED)
    loose.close()
    assert duration == pytest.approx(record.duration, abs=FRAME)
    wanted = record.agent[19 * record.rate : 21 * record.rate].astype(np.float64)
    likeness = np.correlate(wanted, np.array(heard[800:-800], dtype=np.float64))
    assert abs(int(np.argmax(likeness)) - 800) <= FRAME * record.rate


def _without_policy(file: Path) -> Path:
    loose = file.with_name("loose.html")
    loose.write_text(file.read_text("utf-8").replace("Content-Security-Policy", "x-none"), "utf-8")
    return loose


def test_the_play_button_plays_and_pauses_and_moves_the_cursor(page: Page) -> None:
    page.click("#play")
    page.run(PLAYED_TO + "await moved(() => callPage.sound.at > 0.1)")
    assert page.run("return document.getElementById('play').textContent") == "Pause"
    assert page.run("return new DOMMatrix(document.getElementById('cursor').style.transform).m41") > 0
    page.click("#play")
    assert page.run(PLAYED_TO + "await moved(() => !callPage.sound.playing); return true")


def test_a_click_on_a_finding_plays_it_with_a_lead_and_says_what_it_is(page: Page) -> None:
    page.run("window.seeks = []; byId('sound').addEventListener('seeking', () => seeks.push(callPage.sound.at))")
    at = page.run("return +document.querySelector('.row.findings .mark').dataset.at / callPage.rate")
    page.click(".row.findings .mark")
    page.run(PLAYED_TO + f"await moved(() => callPage.sound.playing && callPage.sound.at > {at})")
    assert page.run("return seeks[0]") == pytest.approx(at - 0.5, abs=0.05)
    assert "the user interrupted at 21.00 s" in page.run("return document.getElementById('chosen').textContent")
    assert page.run("return document.querySelectorAll('[aria-current]').length") == 1


def test_a_short_mark_stops_by_itself(page: Page) -> None:
    at = page.run("return +document.querySelector('.row.user .mark').dataset.at / callPage.rate")
    page.run("byId('sound').playbackRate = 4")
    page.click(".row.user .mark")
    page.run(PLAYED_TO + "await moved(() => callPage.sound.playing); await moved(() => !callPage.sound.playing)")
    assert at < page.run("return callPage.sound.at") < at + 4


def test_a_click_on_a_lane_goes_there(page: Page) -> None:
    page.click(".lane canvas")
    assert page.run("return callPage.sound.at") == pytest.approx(30, abs=0.2)


def test_every_button_of_the_tables_can_be_heard(page: Page) -> None:
    page.click("#checks tbody tr:last-child .hear")
    assert page.run(PLAYED_TO + "await moved(() => callPage.sound.playing); return callPage.sound.at") >= 46


def test_keys_play_seek_and_zoom(page: Page) -> None:
    page.press("ArrowRight", "ArrowRight", "Shift+ArrowRight", "ArrowLeft")
    assert page.run("return callPage.sound.at") == pytest.approx(6, abs=0.01)
    page.press("Space")
    page.run(PLAYED_TO + "await moved(() => callPage.sound.playing)")
    page.press("Space")
    page.run(PLAYED_TO + "await moved(() => !callPage.sound.playing)")
    page.press("+", "+")
    assert page.run("return callPage.line.zoom") == 4
    page.press("-")
    assert page.run("return callPage.line.zoom") == 2
    page.press("0")
    assert page.run("return callPage.line.zoom") == 1


def test_the_next_mark_is_a_key_away(page: Page) -> None:
    page.press("n", "n")
    second = page.run("return document.querySelector('[aria-current]').textContent")
    page.press("n", "p")
    assert page.run("return document.querySelector('[aria-current]').textContent") == second


def test_arrows_walk_along_a_row_of_marks_and_enter_plays(page: Page) -> None:
    page.run("document.querySelector('.row.events .mark').focus()")
    page.press("ArrowRight", "ArrowRight")
    assert page.run("return document.activeElement.textContent") == "barge-in"
    page.press("Enter")
    assert page.run("return document.activeElement.getAttribute('aria-current')") == "true"
    assert page.run("return document.querySelectorAll('.row.events .mark[tabindex=\"0\"]').length") == 1


def test_words_appear_when_one_looks_closer(page: Page) -> None:
    shown = "return document.querySelector('.row.words').checkVisibility()"
    assert not page.run(shown)
    page.press("+", "+", "+", "+")
    assert page.run(shown)
    assert page.run(INK)[1] > 0.05


def test_one_track_can_be_heard_alone(page: Page) -> None:
    page.run("const one = byId('tracks'); one.value = 'agent'; one.dispatchEvent(new Event('change'))")
    assert page.run("return callPage.sound.gains.map((gain) => gain.gain.value)") == [0, 0, 1, 1]


def test_the_reader_can_choose_between_light_and_dark(browser: Browser, call_page_file: Path) -> None:
    page = browser.open(call_page_file, scheme="dark")
    background = "return getComputedStyle(document.body).backgroundColor"
    dark = page.run(background)
    page.click("#scheme")
    assert page.run(background) != dark
    page.click("#scheme")
    assert page.run(background) == dark
    page.close()


def test_nothing_is_wider_than_a_narrow_screen(browser: Browser, call_page_file: Path) -> None:
    page = browser.open(call_page_file, width=360, height=700)
    assert page.run("await callPage.ready; return document.documentElement.scrollWidth") <= 360
    page.close()


def test_every_control_has_a_name(page: Page) -> None:
    page.send("Accessibility.enable")
    tree = page.send("Accessibility.getFullAXTree")["nodes"]
    controls = [node for node in tree if node.get("role", {}).get("value") in ("button", "slider", "combobox")]
    assert len(controls) > 40
    assert [node for node in controls if not node["name"]["value"].strip()] == []


def test_without_embedded_sound_the_recording_beside_the_page_plays(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "page_sound", lambda _record: Sound("recording.wav", embedded=False))
    page = browser.open(write_call_page(save_call(showcase_call(), tmp_path)))
    page.run("await callPage.ready")
    page.click("#play")
    page.run(PLAYED_TO + "await moved(() => callPage.sound.at > 0.05)")
    assert page.run("return byId('sound').duration") == pytest.approx(60, abs=FRAME)
    assert not page.run("return byId('tracks').checkVisibility()")
    assert page.complaints == []
    page.close()


def test_hostile_words_stay_words(browser: Browser, tmp_path: Path) -> None:
    page = browser.open(write_call_page(save_call(showcase_call(hostile=True), tmp_path)))
    page.run("await callPage.ready")
    assert page.run("return window.attacked") is None
    assert "</script><script>" in page.run("return document.querySelector('h1').textContent")
    assert page.external_requests == []
    page.close()
