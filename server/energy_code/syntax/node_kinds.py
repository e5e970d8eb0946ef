"""The kinds of syntax nodes that lowering tells apart."""

from __future__ import annotations

import re

import tree_sitter
import tree_sitter_python

LANGUAGE = tree_sitter.Language(tree_sitter_python.language())
Node = tree_sitter.Node

KINDS = [LANGUAGE.node_kind_for_id(kind) or "" for kind in range(LANGUAGE.node_kind_count)]
ERROR = 65535


def kinds(*names: str) -> frozenset[int]:
    """The ids of node kinds; one name may have several."""
    return frozenset(kind for kind, name in enumerate(KINDS) if name in names)


IGNORED = kinds("comment", "line_continuation")
TOKENS = IGNORED | frozenset(
    kind for kind, name in enumerate(KINDS) if not LANGUAGE.node_kind_is_named(kind) and name != "ERROR"
)
"""Punctuation, keywords and comments: children without meaning of their own."""


def code_children(node: Node) -> list[Node]:
    """The children that are code."""
    return [child for child in node.children if child.kind_id not in TOKENS]


PLAIN_IDENTIFIER = KINDS.index("identifier")
KEYWORD_ARGUMENT = KINDS.index("keyword_argument")
AND = KINDS.index("and")
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z", re.ASCII).match
LIST_SPLAT = kinds("list_splat", "parenthesized_list_splat")
DICT_SPLAT = kinds("dictionary_splat")
GENERATOR = kinds("generator_expression")
PAIR = kinds("pair")
FOR_IN = kinds("for_in_clause")
IF_CLAUSE = kinds("if_clause")
STRINGS = kinds("string", "concatenated_string")
INTERPOLATION = kinds("interpolation")
