"""The report of a measured run: one HTML page that needs nothing from outside."""

from energy_lsp.report.page import render

__all__ = ["render"]
