"""Tables for notebooks: self-contained, readable on light and dark pages, and deaf to hostile text.

Every text passes through ``visible`` and ``html.escape``; nothing is fetched and nothing is executed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from discreet.session.text_table import visible

__all__ = ["Cell", "html_table", "written"]

STYLE = """<style>
.discreet-table {font-family:system-ui,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;font-size:14px;line-height:1.45;
  max-width:72em;margin:.5em 0}
.discreet-table table {border-collapse:collapse;border:0;margin:0;font-variant-numeric:tabular-nums;text-align:left}
.discreet-table caption {caption-side:top;text-align:left;padding:0 0 .7em;color:inherit}
.discreet-table caption strong {font-size:1.12em;font-weight:600;display:block}
.discreet-table caption code {display:block;margin:.6em 0 0;padding:0;background:none;color:inherit;opacity:.82;
  font-size:.92em}
.discreet-table thead th {font-weight:600;vertical-align:bottom;border:0;
  border-bottom:1.5px solid rgba(110,125,140,.75);padding:.3em .9em .4em;white-space:nowrap}
.discreet-table thead .quiet {font-weight:400}
.discreet-table small {display:block;font-weight:400;opacity:.75}
.discreet-table tbody th, .discreet-table tbody td {background:none;border:0;
  border-bottom:1px solid rgba(110,125,140,.22);padding:.34em .9em;vertical-align:baseline;white-space:nowrap;
  text-align:left}
.discreet-table tbody th {font-weight:400;white-space:pre-wrap;overflow-wrap:anywhere;max-width:28em}
.discreet-table th:first-child, .discreet-table td:first-child {padding-left:.2em}
.discreet-table .right {text-align:right !important}
.discreet-table .value {font-weight:600;padding-right:.3em !important}
.discreet-table .spread {padding-left:0 !important}
.discreet-table .quiet {opacity:.72}
.discreet-table .wrap {white-space:normal !important}
.discreet-table ul {margin:.7em 0 0;padding:0;list-style:none}
.discreet-table li {margin:.15em 0;opacity:.82}
.discreet-table .alarm {background:#a8201a;color:#fff;font-weight:600;padding:.5em .8em;margin:0 0 .7em;
  border-radius:3px;opacity:1}
</style>"""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, its class, whether it is a heading, how many columns it spans, and a smaller line below it."""

    text: str
    style: str = ""
    small: str = ""
    span: int = 1
    heads: bool = False

    def html(self, scope: str) -> str:
        """Return the element; headings say what they are the heading of."""
        tag = "th" if self.heads else "td"
        parts = [f' scope="{scope if self.span == 1 or scope == "row" else "colgroup"}"'] if self.heads else []
        parts += [f' class="{self.style}"'] if self.style else []
        parts += [f' colspan="{self.span}"'] if self.span > 1 else []
        below = f"<small>{written(self.small)}</small>" if self.small else ""
        return f"<{tag}{''.join(parts)}>{written(self.text)}{below}</{tag}>"


def html_table(
    title: str,
    caption: str,
    head: Sequence[Cell],
    rows: Iterable[Sequence[Cell]],
    *,
    notes: Iterable[str] = (),
    code: str = "",
    alarm: str = "",
) -> str:
    """Return a caption with the question below it, a table and notes as one element.

    >>> page = html_table("One row", "costs nothing", [Cell("a", heads=True)], [[Cell("<b>")]])
    >>> "&lt;b&gt;" in page, '<th scope="col">a</th>' in page
    (True, True)
    """
    lines = "<br>".join(map(written, code.splitlines()))
    asked = f"<code>{lines}</code>" if lines else ""
    listed = "".join(f"<li>{written(note)}</li>" for note in notes)
    return "".join(
        [
            '<div class="discreet-table">',
            STYLE,
            f'<div class="alarm" role="alert">{written(alarm)}</div>' if alarm else "",
            f"<table><caption><strong>{written(title)}</strong>{written(caption)}{asked}</caption>",
            f"<thead><tr>{''.join(cell.html('col') for cell in head)}</tr></thead><tbody>",
            *(f"<tr>{''.join(cell.html('row') for cell in row)}</tr>" for row in rows),
            "</tbody></table>",
            f"<ul>{listed}</ul>" if listed else "",
            "</div>",
        ]
    )


def written(text: str) -> str:
    """Return a text that is safe inside an element and inside an attribute.

    >>> written('<img src="x">')
    '&lt;img src=&quot;x&quot;&gt;'
    """
    return escape(visible(text), quote=True)
