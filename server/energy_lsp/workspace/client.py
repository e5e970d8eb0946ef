"""What the client on the other side can do, in the words the features ask in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from lsprotocol import types

Encoding = Literal["utf-8", "utf-16", "utf-32"]


@dataclass(frozen=True, slots=True)
class Client:
    """Capabilities of the connected editor."""

    encoding: Encoding = "utf-16"
    markdown: bool = False
    pulls_diagnostics: bool = False
    related_information: bool = False
    code_description: bool = False
    diagnostic_data: bool = False
    refreshes_diagnostics: bool = False
    refreshes_inlay_hints: bool = False
    refreshes_code_lens: bool = False
    code_action_literals: bool = False
    code_action_resolve: bool = False
    configuration: bool = False
    watches_files: bool = False
    registers_configuration: bool = False
    progress: bool = False
    show_document: bool = False
    document_changes: bool = False

    @classmethod
    def of(cls, capabilities: types.ClientCapabilities, encoding: str) -> Client:
        """Read the capabilities; whatever is missing counts as not supported."""
        from lsprotocol.types import MarkupKind

        def has(path: str) -> bool:
            return bool(_walk(capabilities, path))

        formats = _walk(capabilities, "text_document.hover.content_format") or ()
        resolvable = _walk(capabilities, "text_document.code_action.resolve_support.properties") or ()
        return cls(
            encoding="utf-8" if encoding == "utf-8" else "utf-32" if encoding == "utf-32" else "utf-16",
            markdown=MarkupKind.Markdown in formats,
            pulls_diagnostics=_walk(capabilities, "text_document.diagnostic") is not None,
            related_information=has("text_document.publish_diagnostics.related_information")
            or has("text_document.diagnostic.related_information"),
            code_description=has("text_document.publish_diagnostics.code_description_support")
            or has("text_document.diagnostic.code_description_support"),
            diagnostic_data=has("text_document.publish_diagnostics.data_support")
            or has("text_document.diagnostic.data_support"),
            refreshes_diagnostics=has("workspace.diagnostics.refresh_support"),
            refreshes_inlay_hints=has("workspace.inlay_hint.refresh_support"),
            refreshes_code_lens=has("workspace.code_lens.refresh_support"),
            code_action_literals=has("text_document.code_action.code_action_literal_support"),
            code_action_resolve="edit" in resolvable,
            configuration=has("workspace.configuration"),
            watches_files=has("workspace.did_change_watched_files.dynamic_registration"),
            registers_configuration=has("workspace.did_change_configuration.dynamic_registration"),
            progress=has("window.work_done_progress"),
            show_document=has("window.show_document.support"),
            document_changes=has("workspace.workspace_edit.document_changes"),
        )


def _walk(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = getattr(value, name, None)
        if value is None:
            return None
    return value
