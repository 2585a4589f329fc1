from discreet.report.finding import Fact, Finding, Rows, render_finding


def test_everything_is_shown_and_nothing_can_act():
    page = render_finding(
        Finding(
            title="<b>bold</b>",
            verdict="found",
            facts=[Fact(name="k", value="1", words="<i>")],
            tables=[Rows(title="t", head=["a", "b"], rows=[["<script>", "2"]])],
            protection="protected",
            advice=["do this"],
            remarks=["by the way"],
            source="a paper",
        ),
        reproduce="discreet attack",
        date="2024-01-01",
    )
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    for words in ("found", "protected", "do this", "by the way", "a paper", "discreet attack", "2024-01-01"):
        assert words in page


def test_a_bare_verdict_is_a_page():
    assert "nothing" in render_finding(Finding(title="Title", verdict="nothing"))
