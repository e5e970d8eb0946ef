"""How long the import of the raw GreenLight records takes, against parsing their JSON alone.

python benchmarks/speed/greenlight_import.py PATH
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from energy_data.database.database import Database
from energy_data.studies.greenlight import files, import_greenlight
from record import Results


def parse(path: Path) -> None:
    """Both levels of JSON: the samples are texts within the records."""
    for _, content in files(path):
        for item in json.loads(content):
            for record in item.values():
                for series in record["energy_data"].values():
                    json.loads(series)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("path", type=Path)
    path = parser.parse_args().path
    results = Results(
        "speed/greenlight_import", topic="Database", title="Import of the published GreenLight records"
    )
    start = time.perf_counter()
    parse(path)
    parsed = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder, Database.open(Path(folder) / "energy.db") as database:
        start = time.perf_counter()
        report = import_greenlight(database, path)
        imported = time.perf_counter() - start
        start = time.perf_counter()
        import_greenlight(database, path)
        again = time.perf_counter() - start
    print(f"{report.files} files, {report.records} records")
    print(f"parsing alone  {parsed:5.2f} s  1.0 ×")
    print(f"import         {imported:5.2f} s  {imported / parsed:3.1f} ×")
    print(f"import again   {again:5.2f} s  {again / parsed:3.1f} ×")
    results.add(f"import of {report.files} files", imported, "s", at_most=10)
    results.add("import again", again, "s")
    results.add("parsing their JSON alone", parsed, "s")
    results.write()


if __name__ == "__main__":
    main()
