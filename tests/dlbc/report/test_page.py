"""The page stands alone, is well formed, escapes what the program says, and can be read in light and dark."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from dlbc.commands import report
from dlbc.commands.pages import code, style
from dlbc.commands.report.charts import number_text, steps
from dlbc.commands.report.content import report_of
from dlbc.commands.report.page import page
from dlbc.commands.report.text import text_of_report
from tests.dlbc.report.traces import program_trace

ASSETS = Path(report.__file__).with_name("assets")
#: Elements without an end tag.
VOID = {"meta", "br", "img", "hr", "input", "link"}

HOSTILE = "<script>alert(1)</script>\"'&</style><!--"


class Elements(HTMLParser):
    """Collects elements with their attributes, and checks that they are nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag


def test_runs_that_are_not_in_the_trace_are_no_sequential_part() -> None:
    found = report_of(program_trace(), "t.json")
    seconds = {each.label: each.seconds for each in found.portions}
    assert seconds["runs that were not recorded"] == pytest.approx(0.25)
    assert seconds["the sequential part, on rank 0"] == pytest.approx(1 - 0.1 - 0.25, abs=1e-6)
    assert any(note.startswith("Runs of loops that took 250 ms are not in the trace") for note in found.notes)


@pytest.fixture(scope="module")
def text() -> str:
    return page(report_of(program_trace(), "t.json"))


def test_the_page_is_well_formed(text: str) -> None:
    elements = Elements(text)
    assert elements.open == []
    tags = [tag for tag, _ in elements.found]
    assert tags.count("h1") == tags.count("main") == tags.count("canvas") == 1
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_the_page_needs_no_network(text: str) -> None:
    for _, attributes in Elements(text).found:
        assert not {"src", "href", "action", "data", "poster"} & set(attributes), attributes
    assert not re.findall(r"https?:|//[a-z]|@import|url\(|fetch\(|XMLHttp|import\(", text)


def test_the_page_suits_a_phone_a_keyboard_and_a_screen_reader(text: str) -> None:
    found = Elements(text).found
    assert ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}) in found
    [canvas] = [attributes for tag, attributes in found if tag == "canvas"]
    assert canvas["tabindex"] == "0"
    assert canvas["role"] == "img"
    assert canvas["aria-label"]
    assert all(attributes.get("aria-label") for tag, attributes in found if tag == "svg")
    assert all(attributes.get("type") == "button" for tag, attributes in found if tag == "button")
    assert {"scope"} == {
        key for tag, attributes in found if tag == "th" for key in attributes if key != "class"
    }
    assert all(
        word in style(ASSETS) for word in ("prefers-color-scheme: dark", "@media print", "max-width: 40rem")
    )


def test_what_the_program_says_is_escaped() -> None:
    text = page(report_of(program_trace(HOSTILE, HOSTILE), HOSTILE))
    plain = page(report_of(program_trace(), "t.json"))
    assert [tag for tag, _ in Elements(text).found] == [tag for tag, _ in Elements(plain).found]
    assert HOSTILE not in text
    assert text.count("<script") == 2
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert json.loads(data)["loops"] == [HOSTILE]
    assert json.loads(data)["hosts"] == [HOSTILE] * 4


def palettes() -> list[dict[str, str]]:
    """The colours by name: those of the light scheme, and of the dark one."""
    light, dark = re.findall(r":root \{(.*?)\}", style(ASSETS), re.DOTALL)
    found = [dict(re.findall(r"--([a-z0-9]+): (#[0-9a-f]{6})", part)) for part in (light, dark)]
    assert found[0].keys() == found[1].keys()
    return found


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast of two colours (WCAG 2.2, "contrast ratio")."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1])
def test_colours_have_contrast(scheme: int) -> None:
    """Text 4.5, pictures 3 (WCAG 2.2, 1.4.3 and 1.4.11), idle time as well."""
    colours = palettes()[scheme]
    for text in ("text", "quiet"):
        assert contrast(colours[text], colours["page"]) >= 4.5
        assert contrast(colours[text], colours["raised"]) >= 4.5
    for line in (f"l{k}" for k in range(8)):
        assert contrast(colours[line], colours["page"]) >= 4.5, "names at lines are text"
    for picture in ("compute", "carry", "synchronize", "idle", "sequential", "mark", "focus"):
        assert contrast(colours[picture], colours["page"]) >= 3.0, picture
    assert contrast(colours["idle"], colours["rest"]) >= 3.0


def test_every_colour_of_the_style_is_defined_and_every_class_has_one() -> None:
    text = style(ASSETS)
    assert set(re.findall(r"var\(--([a-z0-9]+)\)", text)) <= palettes()[0].keys()
    for kind in ("compute", "carry", "synchronize", "idle", "sequential"):
        assert re.search(rf"^\.{kind} \{{|\}} \.{kind} \{{", text, re.MULTILINE), kind


def test_charts_have_what_was_measured(text: str) -> None:
    pictures = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert [re.findall(r"<title>(.*?)</title>", each)[0] for each in pictures] == [
        "prog.py:3: seconds of one iteration, by its number",
        "prog.py:3: seconds of a pass",
        "prog.py:3: rows a second over the rows that a rank holds (piecewise model)",
    ]
    costs, passes, speeds = pictures
    assert costs.count("<polyline") == 1
    assert passes.count("<polyline") == 2
    assert speeds.count("<polyline") == 4
    assert len(re.findall(r'<circle class="dot', speeds)) == 8
    assert len(re.findall(r'<circle class="share', speeds)) == 4


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (0, 100, [0, 50, 100]),
        (0, 10, [0, 5, 10]),
        (1, 12, [5, 10]),
        (3, 3, [3]),
        (0, 0.07, [0, 0.02, 0.04, 0.06]),
    ],
)
def test_axes_have_few_round_values(low: float, high: float, found: list[float]) -> None:
    assert steps(low, high, 4) == pytest.approx(found)


def test_numbers_of_axes() -> None:
    assert list(map(number_text, (0, 900, 25_000, 3e6, 2e9))) == ["0", "900", "25 k", "3 M", "2 G"]


def test_words_in_backquotes_are_code() -> None:
    assert code("add `a<b>` & go") == "add <code>a&lt;b&gt;</code> &amp; go"
    assert code("one ` alone") == "one ` alone"


def test_predictions_stand_beside_what_was_measured(text: str) -> None:
    assert "<p>Predicted 1.8 s, took 1.9 s (+3 %); predicted an imbalance of 12 %, was 3 %.</p>" in text
    [view] = report_of(program_trace(), "t.json").loops
    assert view.audited is not None
    assert view.audited.rows == (
        ("time of runs with a choice", "1.84 s", "1.9 s", "+3 %"),
        ("imbalance of the first shares, and at the end", "12 %", "3 %", "-75 %"),
        ("bytes of the work that moved", "800", "1000", "+25 %"),
    )
    lines = text_of_report(report_of(program_trace(), "t.json"), 100).splitlines()
    assert "  Predicted 1.8 s, took 1.9 s (+3 %); predicted an imbalance of 12 %, was 3 %." in lines


def test_statistics_that_are_none_are_refused() -> None:
    trace = program_trace()
    assert trace.program is not None
    wrong = replace(trace.program, statistics={"loops": [{"elapsed_s": 1.0, "audit": {"seconds": 3}}]})
    with pytest.raises(ValueError, match="statistics of loops"):
        report_of(replace(trace, program=wrong), "t.json")
