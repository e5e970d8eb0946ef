"""The fields of syntax nodes by number: asking by name compares texts each time."""

from __future__ import annotations

from energy_code.syntax.node_kinds import LANGUAGE


def field(name: str) -> int:
    """The number of a field."""
    number = LANGUAGE.field_id_for_name(name)
    assert number is not None, name
    return number


ALIAS = field("alias")
ALTERNATIVE = field("alternative")
BODY = field("body")
CONDITION = field("condition")
CONSEQUENCE = field("consequence")
LEFT = field("left")
MODULE_NAME = field("module_name")
NAME = field("name")
OPERATOR = field("operator")
PARAMETERS = field("parameters")
RETURN_TYPE = field("return_type")
RIGHT = field("right")
SUBJECT = field("subject")
SUPERCLASSES = field("superclasses")
TYPE = field("type")
VALUE = field("value")
