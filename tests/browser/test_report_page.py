"""The page of `dlbc report` in a browser: drawn, fit for a phone, used by keys and pointer, and quiet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dlbc.commands.report.content import Report, report_of
from dlbc.commands.report.page import page
from tests.browser.chromium import Window, browser, probe, screenshot
from tests.browser.example import example

pytestmark = pytest.mark.skipif(browser() is None, reason="no chromium here")

PHONE, DESK, NIGHT = Window(360, 700), Window(1000, 900), Window(1000, 900, dark=True)

CANVAS = "const canvas = document.getElementById('timeline'), readout = document.getElementById('readout');"

#: The colours of the canvas, as a set of #rrggbb.
COLOURS = (
    CANVAS
    + """
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height), seen = new Map();
  for (let k = 0; k < data.length; k += 4) {
    const c = '#' + [data[k], data[k + 1], data[k + 2]].map(v => v.toString(16).padStart(2, '0')).join('');
    seen.set(c, (seen.get(c) ?? 0) + 1);
  }
  const named = n => getComputedStyle(document.documentElement).getPropertyValue('--' + n).trim();
"""
)

PRESS = """
  const press = key => canvas.dispatchEvent(
    new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
"""


#: Texts whose colour has too little contrast to what is under them.
CONTRAST = """
  const parse = c => c.match(/[0-9.]+/g).map(Number);
  const linear = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const lum = rgb => [0.2126, 0.7152, 0.0722].reduce((s, w, k) => s + w * linear(rgb[k] / 255), 0);
  const under = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3]) return c;
    }
    return [255, 255, 255];
  };
  const own = e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  const low = [];
  for (const e of document.querySelectorAll('body *')) {
    if (!own(e) || e.closest('script, noscript, #probed')) continue;
    const style = getComputedStyle(e), colour = parse(e.closest('svg') ? style.fill : style.color);
    const [a, b] = [lum(colour), lum(under(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push([e.tagName, e.textContent.slice(0, 40), ratio]);
  }
  return low;
"""


@pytest.fixture(scope="module")
def report() -> Report:
    return report_of(example("none"), "t.json")


@pytest.fixture(scope="module")
def text(report: Report) -> str:
    return page(report)


@pytest.mark.parametrize("window", [PHONE, DESK, NIGHT])
def test_what_each_rank_did_is_drawn_idle_time_too(text: str, window: Window) -> None:
    names = ["compute", "carry", "idle", "rest", "sequential"]
    drawn = probe(text, COLOURS + f"return {names}.map(n => seen.get(named(n)) ?? 0);", window)
    assert all(pixels > 20 for pixels in drawn), dict(zip(names, drawn, strict=True))


@pytest.mark.parametrize("window", [PHONE, DESK])
def test_the_page_is_as_wide_as_the_window(text: str, window: Window) -> None:
    widths = "return [document.documentElement.scrollWidth, innerWidth];"
    scrolled, inner = probe(text, widths, window)
    assert scrolled <= inner == window.width


def test_the_scheme_of_the_system_is_followed(text: str) -> None:
    colour = "return getComputedStyle(document.body).backgroundColor;"
    assert probe(text, colour, DESK) == "rgb(255, 255, 255)"
    assert probe(text, colour, NIGHT) == "rgb(20, 24, 29)"


def test_arrow_keys_go_from_one_activity_to_the_next(text: str) -> None:
    said = probe(
        text,
        CANVAS
        + PRESS
        + """
      const keys = ['ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowUp', 'ArrowLeft'];
      return keys.map(key => { press(key); return readout.textContent; });
    """,
    )
    assert said[0].startswith("rank 0 (node1) runs the sequential part for 400.0 ms from 0 us")
    assert said[1].startswith("rank 0 (node1) waits for the call")
    assert "picture.py:17, run 1 under none" in said[1]
    assert said[2].startswith("rank 1 (node1)")
    assert said[3].startswith("rank 0")
    assert said[4].startswith("rank 0 (node1) runs the sequential part")


def test_keys_and_buttons_zoom_and_show_all_again(text: str) -> None:
    shot = "canvas.toDataURL()"
    all_, near, back, button = probe(
        text,
        CANVAS
        + PRESS
        + f"""
      const whole = {shot}; press('+'); press('+'); const near = {shot}; press('0'); const back = {shot};
      document.querySelector('[data-do=in]').click(); const button = {shot};
      return [whole, near, back, button];
    """,
    )
    assert all_ == back != near
    assert button not in (all_, near)


def test_the_pointer_says_what_it_is_over(text: str) -> None:
    said = probe(
        text,
        CANVAS
        + """
      const box = canvas.getBoundingClientRect();
      const at = (x, y) => canvas.dispatchEvent(new PointerEvent(
        'pointermove', {clientX: box.left + x, clientY: box.top + y, bubbles: true}));
      at(canvas.clientWidth / 2, 22 + 34 * 1.5); const middle = readout.textContent;
      at(canvas.clientWidth - 30, 22 + 17); return [middle, readout.textContent];
    """,
    )
    assert said[0].startswith("rank 1 (node1) computes for")
    assert "iterations" in said[0]
    assert said[1].startswith("rank 0 (node1)")


def test_a_loop_s_button_shows_its_run(text: str) -> None:
    before, after, focused = probe(
        text,
        CANVAS
        + """
      const before = canvas.toDataURL(); document.querySelector('[data-run]').click();
      return [before, canvas.toDataURL(), document.activeElement === canvas];
    """,
    )
    assert before != after
    assert focused


def test_what_is_folded_is_printed(text: str) -> None:
    moved = page(report_of(example("GDDLB"), "t.json"))
    assert "<details>" in moved
    opened = probe(
        moved,
        "dispatchEvent(new Event('beforeprint'));"
        "return [...document.querySelectorAll('details')].every(d => d.open);",
    )
    assert opened


def test_texts_of_the_page_have_contrast_as_drawn(text: str) -> None:
    """WCAG 2.2, 1.4.3, by the colours that the browser computes, in both schemes."""
    assert probe(text, CONTRAST, DESK) == []
    assert probe(text, CONTRAST, NIGHT) == []


def test_many_events_are_drawn(report: Report) -> None:
    """120 000 slices: the page is made, drawn and stays quiet."""
    slices = [n for k in range(30_000) for n in (5 if k % 3 else 2, 100 * k, 100, 1)]
    many = replace(report, timeline=report.timeline | {"slices": [slices] * 4, "end": 3_000_000})
    drawn = probe(page(many), COLOURS + "return ['idle', 'compute'].map(n => seen.get(named(n)) ?? 0);", DESK)
    assert drawn[0] > 100, "most of each pixel is idle"


def test_a_picture_can_be_taken(text: str, tmp_path: Path) -> None:
    screenshot(text, tmp_path / "a.png", DESK)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
