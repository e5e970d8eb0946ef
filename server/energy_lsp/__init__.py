"""What people see: the language server and the command line; and `span`, which marks phases of a measured program."""

from energy_measure.injected.phase_marks import span as span

__all__ = ["span"]
