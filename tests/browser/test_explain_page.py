"""The page of `dlbc explain` in a browser: drawn, fit for a phone, used by keys and pointer, and quiet."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlbc.commands.explain.page import page
from tests.browser.chromium import Window, browser, probe, screenshot
from tests.browser.test_report_page import CONTRAST
from tests.dlbc.test_remarks import PROGRAM, explained

pytestmark = pytest.mark.skipif(browser() is None, reason="no chromium here")

PHONE, DESK, NIGHT = Window(360, 700), Window(1200, 900), Window(1200, 900, dark=True)

SHOWN = (
    "const shown = kind => [...document.querySelectorAll('li.' + kind)].filter(e => e.offsetHeight).length;"
)


@pytest.fixture(scope="module")
def text() -> str:
    return page([explained(PROGRAM)])


@pytest.mark.parametrize("window", [PHONE, DESK])
def test_the_page_is_as_wide_as_the_window(text: str, window: Window) -> None:
    scrolled, inner = probe(text, "return [document.documentElement.scrollWidth, innerWidth];", window)
    assert scrolled <= inner == window.width


@pytest.mark.parametrize(("window", "beside"), [(PHONE, False), (DESK, True)])
def test_remarks_stand_beside_the_source_or_below_it(text: str, window: Window, beside: bool) -> None:
    source, remarks = probe(
        text,
        "const s = [...document.querySelectorAll('.segment')].pop();"
        "const at = c => s.querySelector(c).getBoundingClientRect();"
        "const a = at('.source'), b = at('.remarks'); return [[a.right, a.bottom, a.top], [b.left, b.top]];",
        window,
    )
    if beside:
        assert remarks[0] >= source[0]
        assert remarks[1] == source[2]
    else:
        assert remarks[1] >= source[1]


def test_the_scheme_of_the_system_is_followed(text: str) -> None:
    colour = "return getComputedStyle(document.body).backgroundColor;"
    assert probe(text, colour, DESK) == "rgb(255, 255, 255)"
    assert probe(text, colour, NIGHT) == "rgb(20, 24, 29)"


def test_buttons_show_and_hide_a_kind(text: str) -> None:
    before, after, again, pressed = probe(
        text,
        SHOWN
        + """
      const count = () => [shown('passed'), shown('missed'), shown('analysis')];
      const button = document.querySelector('button[data-kind=analysis]'), before = count();
      button.click(); const after = count(), pressed = button.getAttribute('aria-pressed');
      button.click(); return [before, after, count(), pressed];
    """,
        DESK,
    )
    assert before == again
    assert after == [*before[:2], 0]
    assert before[2] > 0
    assert pressed == "false"


def test_a_mark_leads_to_remarks_and_a_number_to_its_line(text: str) -> None:
    focused, marked, number = probe(
        text,
        """
      const link = document.querySelector('#f1l5 .marks a.passed'); link.click();
      const remark = document.activeElement;
      remark.dispatchEvent(new PointerEvent('pointerenter'));
      const marked = [...document.querySelectorAll('.line.on')].map(e => e.id);
      const number = remark.querySelector('a');
      return [remark.textContent, marked, document.querySelector(number.getAttribute('href')).textContent];
    """,
        DESK,
    )
    assert "compiled by numba" in focused
    assert marked == ["f1l5"]
    assert "# dlb: parallel, jit" in number


def test_texts_of_the_page_have_contrast_as_drawn(text: str) -> None:
    """WCAG 2.2, 1.4.3, by the colours that the browser computes, in both schemes."""
    assert probe(text, CONTRAST, DESK) == []
    assert probe(text, CONTRAST, NIGHT) == []
    hidden = "document.querySelectorAll('button[data-kind]').forEach(b => b.click());"
    assert probe(text, hidden + CONTRAST, NIGHT) == []


def test_a_picture_can_be_taken(text: str, tmp_path: Path) -> None:
    screenshot(text, tmp_path / "a.png", DESK)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
