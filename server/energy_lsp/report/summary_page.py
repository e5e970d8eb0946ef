"""Pages made of headings, sentences, tables and drawings: one file that needs nothing from outside.

Everything that goes in is text and is escaped here; drawings come from `energy_lsp.report.plot`.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from energy_data.problems import Problem
from energy_data.untrusted.writing import write_file
from energy_lsp.report.plot import Drawing

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { text-align: left; padding: .25rem .75rem; border-bottom: 1px solid #8884; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; } figcaption { color: gray; }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""No scripts, nothing from elsewhere: text out of a database must not become more than text."""


@dataclass(slots=True)
class SummaryPage:
    """A page under construction."""

    title: str
    parts: list[str] = field(default_factory=list)

    def heading(self, text: str) -> None:
        """A heading of a section."""
        self.parts.append(f"<h2>{html.escape(text)}</h2>")

    def text(self, *sentences: str) -> None:
        """A paragraph."""
        self.parts.append(f"<p>{html.escape(' '.join(sentences))}</p>")

    def table(
        self, header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()
    ) -> None:
        """A table; columns in `numbers` are set to the right."""
        right = set(numbers)
        self.parts.append("<table>" + _row("th", header, right))
        self.parts += [_row("td", row, right) for row in rows]
        self.parts.append("</table>")

    def drawing(self, drawing: Drawing, caption: str) -> None:
        """A drawing with its caption."""
        self.parts.append(f"<figure>{drawing.svg}<figcaption>{html.escape(caption)}</figcaption></figure>")

    def render(self) -> str:
        """The page as HTML."""
        title = html.escape(self.title)
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            f"<title>{title}</title><style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n"
            + "\n".join(self.parts)
            + "\n</body></html>\n"
        )

    def write(self, path: Path) -> None:
        """Write the page to a file."""
        try:
            write_file(path, self.render())
        except OSError as error:
            raise Problem(f"{path} cannot be written ({error.strerror}): name another file.") from error


def _row(kind: str, cells: Sequence[str], right: set[int]) -> str:
    texts = (
        f"<{kind}{' class=number' if number in right else ''}>{html.escape(cell)}</{kind}>"
        for number, cell in enumerate(cells)
    )
    return f"<tr>{''.join(texts)}</tr>"
