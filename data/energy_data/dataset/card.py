"""What a dataset says about itself: data card with the column dictionary, licence, citation."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass
from pathlib import Path

from energy_data.dataset.columns import TABLES
from energy_data.untrusted.writing import write_file

LICENCES = {
    "CC-BY-4.0": "Creative Commons Attribution 4.0 International, https://creativecommons.org/licenses/by/4.0/legalcode",
    "CC0-1.0": "Creative Commons Zero 1.0 Universal, https://creativecommons.org/publicdomain/zero/1.0/legalcode",
    "ODbL-1.0": "Open Data Commons Open Database License 1.0, https://opendatacommons.org/licenses/odbl/1-0/",
}
"""SPDX name → the licence's own name and where its text stands; any other name may be given."""


@dataclass(frozen=True, slots=True)
class About:
    """Who made a dataset, and under which terms others may use it."""

    title: str
    authors: tuple[str, ...]
    license: str = "CC-BY-4.0"
    version: str = "1.0.0"
    released: str = ""
    """ISO date; empty: today."""

    def date(self) -> str:
        """When it was released."""
        return self.released or datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def write(folder: Path, about: About, rows: dict[str, int]) -> None:
    """Write the card, the citation and the licence into the dataset's folder."""
    write_file(folder / "README.md", card_text(about, rows))
    write_file(folder / "CITATION.cff", citation_text(about))
    named = LICENCES.get(about.license, about.license)
    write_file(folder / "LICENSE", f"SPDX-License-Identifier: {about.license}\n\n{named}\n")


def card_text(about: About, rows: dict[str, int]) -> str:
    """The data card."""
    lines = [
        "---",
        f"license: {json.dumps(about.license.lower())}",
        f"pretty_name: {json.dumps(about.title)}",
        "tags: [energy, tensorflow, keras]",
        "configs:",
        *(f"  - {{config_name: {name}, data_files: {name}.parquet}}" for name in rows),
        "---",
        "",
        f"# {_line(about.title)}",
        "",
        f"Version {_line(about.version)}, {about.date()}, by {_line(', '.join(about.authors))}. How to cite it stands in "
        "CITATION.cff, its terms in LICENSE; `sha256sum --check SHA256SUMS` says whether it is whole.",
        "",
        "## What was measured",
        "",
        "Net energy of calls of TensorFlow, Keras and compiled functions in programs that ran under "
        "`energy-lsp measure`: what meters counted, less the idle baseline, attributed to call sites. Where `estimated` "
        "is true there was no energy sensor and a model of CPU time stood in for it; never put the two together. Where "
        "`resolved` is false the meter could not tell the call from nothing: such rows say that the call was there, and "
        "no more. Figures of different machines, meters and back ends are not alike. Files are named relative to their "
        "project; arguments of programs and the text of "
        "calls are left out.",
        "",
        "## Tables",
        "",
        "| file | rows | |",
        "|---|--:|---|",
        *(f"| `{name}.parquet` | {count:,} | {TABLES[name][0]} |" for name, count in rows.items()),
    ]
    for name, (_, columns) in TABLES.items():
        lines += ["", f"### `{name}.parquet`", "", "| column | type | unit | |", "|---|---|---|---|"]
        lines += [f"| `{c.name}` | {c.kind} | {c.unit} | {c.description} |" for c in columns]
    return "\n".join(lines) + "\n"


def citation_text(about: About) -> str:
    """The citation, as https://citation-file-format.github.io has it; JSON's quoting is one of YAML's."""
    lines = [
        "cff-version: 1.2.0",
        "message: If you use this dataset, please cite it as below.",
        "type: dataset",
        f"title: {json.dumps(about.title)}",
        "authors:",
        *(f"  - name: {json.dumps(author)}" for author in about.authors),
        f"version: {json.dumps(about.version)}",
        f"date-released: {about.date()}",
        f"license: {json.dumps(about.license)}",
        "keywords: [energy, tensorflow, keras, machine learning]",
    ]
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    """Text within one line of Markdown."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
