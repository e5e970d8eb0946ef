"""Calibrations in the energy database: in tables of their own, because no prediction is a measurement."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from energy_data.model import Calibration, Coefficient
from energy_data.prediction.cost_model import CORRECTION, CostModel
from energy_data.rows import (
    calibration_from,
    calibration_row,
    coefficient_from,
    coefficient_row,
    environment_from,
    environment_row,
)

if TYPE_CHECKING:
    from energy_data.database.database import Database


def put_calibration(
    database: Database, calibration: Calibration, coefficients: Iterable[Coefficient]
) -> None:
    """Store a calibration in place of the one that the same machine has for the same versions."""
    with database.transaction() as tables:
        tables.table("environments").insert(environment_row(calibration.environment), ignore=True)
        for known in calibrations(database.connection):
            if known.id == calibration.id or replaced_by(known, calibration):
                remove_calibration(database.connection, known.id)
        tables.table("calibrations").insert(calibration_row(calibration))
        tables.table("coefficients").insert_all([coefficient_row(each) for each in coefficients])


def replaced_by(known: Calibration, new: Calibration) -> bool:
    """True when both are of the same machine, versions, back end and device."""
    return known.machine == new.machine and known.environment == new.environment


def remove_calibration(connection: sqlite3.Connection, calibration_id: str) -> None:
    """Forget a calibration, within a transaction of the caller."""
    connection.execute("DELETE FROM coefficients WHERE calibration_id = ?", (calibration_id,))
    connection.execute("DELETE FROM calibrations WHERE id = ?", (calibration_id,))


def calibrations(connection: sqlite3.Connection) -> list[Calibration]:
    """All calibrations, the newest first."""
    environments = {
        row["id"]: environment_from(row) for row in _rows(connection, "SELECT * FROM environments")
    }
    return [
        calibration_from(row, environments[row["environment_id"]])
        for row in _rows(connection, "SELECT * FROM calibrations ORDER BY measured DESC, id")
        if row["environment_id"] in environments
    ]


def cost_model(connection: sqlite3.Connection, calibration: Calibration) -> CostModel:
    """A calibration, ready to answer."""
    rows = _rows(connection, "SELECT * FROM coefficients WHERE calibration_id = ?", calibration.id)
    return CostModel(calibration, [coefficient_from(row) for row in rows])


def set_scale(connection: sqlite3.Connection, calibration_id: str, scale: float) -> None:
    """Keep what measurements have taught about the machine, within a transaction of the caller."""
    connection.execute("UPDATE calibrations SET scale = ? WHERE id = ?", (scale, calibration_id))


def set_corrections(
    connection: sqlite3.Connection, calibration_id: str, factors: Mapping[str, float]
) -> None:
    """Keep what measurements have taught about single APIs, within a transaction of the caller."""
    for api, factor in factors.items():
        connection.execute(
            "DELETE FROM coefficients WHERE calibration_id = ? AND name = ? AND mode = ?",
            (calibration_id, CORRECTION, api),
        )
        row = coefficient_row(Coefficient(calibration_id, CORRECTION, api, "", (factor,), 0.0, 0.0, 1))
        names = ", ".join(f'"{name}"' for name in row)
        connection.execute(
            f"INSERT INTO coefficients ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
        )


def _rows(connection: sqlite3.Connection, sql: str, *parameters: str) -> list[dict[str, object]]:
    """Rows by column name, whatever way the connection gives them."""
    found = connection.execute(sql, parameters)
    names = [column[0] for column in found.description]
    return [dict(zip(names, tuple(row), strict=True)) for row in found]
