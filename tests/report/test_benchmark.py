"""The page of a benchmark: everything it is given, escaped, and nothing that runs or fetches."""

from discreet.report.figure import Figure
from discreet.report.finding import Fact, Finding, Rows, render_finding


def test_the_page_holds_all_parts():
    page = render_finding(
        Finding(
            kind="Benchmark",
            promise="",
            title="Histograms <compared>",
            verdict="One was best.",
            facts=[Fact(name="Algorithms", value="3", words="all of them")],
            figures=[Figure(svg="<svg><g></g></svg>", caption="A picture.")],
            tables=[Rows(title="Errors", head=["algorithm", "zipf"], rows=[["identity", "0.5*"]])],
            remarks=["What to know."],
        ),
        reproduce="discreet bench histograms",
        date="2026-01-02",
    )
    for words in ("Histograms &lt;compared&gt;", "One was best.", "all of them", "A picture.", "0.5*", "What to know."):
        assert words in page
    assert "discreet bench histograms" in page
    assert "2026-01-02" in page
    assert "<script" not in page
    assert "Benchmark" in page
    assert "Privacy attack" not in page
    assert "any cell that was read" not in page
