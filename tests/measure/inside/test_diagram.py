"""The energy distribution diagram: levels of blocks, laid out along the flow, as SVG and on the page of a report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from click.testing import CliRunner

from energy_lsp.cli import main
from energy_lsp.inside.diagram import MOST_BOXES, levels, opening, svg

from .test_inside_command import database as database
from .test_inside_command import part

FLOWS = [("net/block_0/a", "net/block_0/b"), ("net/block_0/b", "net/block_1/a")]
PARTS = [
    part("net/block_0/a", "Dense", "forward", 1.0),
    part("net/block_0/b", "Dense", "backward", 2.0),
    part("net/block_1/a", "Dense", "forward", 1.0),
]


def test_each_block_is_a_level_and_values_flow_downwards() -> None:
    found = levels(PARTS, FLOWS)
    assert set(found) == {"", "net", "net/block_0", "net/block_1"}
    assert opening(found) == "net"
    boxes = {box.name: box for box in found["net"].boxes}
    assert boxes["block_0"].y < boxes["block_1"].y
    assert boxes["block_0"].share == 0.75
    assert (boxes["block_0"].forward, boxes["block_0"].backward) == (1.0, 2.0)
    assert len(found["net"].edges) == 1


def test_the_only_model_is_shown_from_within_whatever_runs_beside_it() -> None:
    beside = [
        part("loss", "loss", "backward", 0.1),
        part("outside layers", "operation", "backward", 0.1),
    ]
    found = levels([*PARTS, *beside], FLOWS)
    assert opening(found) == "net"
    assert {box.name for box in found[""].boxes} == {"net", "outside layers"}


def test_a_loop_in_the_flow_is_laid_out_too() -> None:
    found = levels(PARTS, [*FLOWS, ("net/block_1/a", "net/block_0/a")])
    assert len(found["net"].edges) == 2


def test_names_are_text_in_the_drawing() -> None:
    odd = part("<script>alert(1)</script>\x07", "Dense", "forward", 1.0)
    drawing = svg(levels([odd], [])[""], "a < b")
    root = ElementTree.fromstring(drawing)
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))


def test_thousands_of_layers_are_the_costliest_ones() -> None:
    parts = [part(f"layer_{number}", "Dense", "forward", float(number + 1)) for number in range(5000)]
    flows = [(f"layer_{number}", f"layer_{number + 1}") for number in range(4999)]
    level = levels(parts, flows)[""]
    assert len(level.boxes) == MOST_BOXES
    assert level.left_out == 5000 - MOST_BOXES


def test_the_report_writes_the_diagram_and_the_page(database: Path, tmp_path: Path) -> None:
    drawing, page = tmp_path / "edd.svg", tmp_path / "report.html"
    arguments = ["report", "latest", "--db", str(database), "--edd", str(drawing), "--html", str(page)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert "block_0 ▸" in drawing.read_text()
    carried = re.search(r'id="data">(.*?)</script>', page.read_text(), re.S)
    assert carried is not None
    inside = json.loads(carried.group(1))["inside"]
    assert inside["opening"] == "net"
    assert inside["blocks"][0][0] == "net/block_*/dense"
    assert "<b>" not in page.read_text().split('id="data">')[1].split("</script>")[0]


def test_a_block_that_is_not_there_is_one_sentence(database: Path, tmp_path: Path) -> None:
    arguments = [
        "report",
        "latest",
        "--db",
        str(database),
        "--edd",
        str(tmp_path / "a.svg"),
        "--of",
        "net/none",
    ]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert "There are no layers inside of net/none" in done.output
    nothing = CliRunner().invoke(main, ["report", "latest", "--db", str(database)])
    assert nothing.exit_code == 0, "without a file the report is a summary in the terminal"
