"""A workspace, an energy database with known figures, and a client that talks to the real server."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient, make_test_lsp_client

from energy_code.analysis.call_text import call_text
from energy_code.workspace.document import Document
from energy_data.database.database import Database
from energy_data.model import Environment, InputSignature, Machine, Measurement, Quantity, Run

MODEL = '''\
"""A small model."""

import tensorflow as tf
from tensorflow import keras


def build():
    model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    return model


def train(model, data):
    for epoch in range(10):
        model.fit(data)
    return tf.pow(tf.abs(data), 2)


class Scale(keras.layers.Layer):
    def call(self, inputs):
        return tf.matmul(inputs, inputs)


trained = train(build(), tf.random.normal((64, 8)))
'''

FIGURES = {
    "keras.Sequential.fit": 12.0,
    "tensorflow.linalg.matmul": 0.004,
    # next to nothing, so that no published figure takes part
    "keras.Sequential": 1e-5,
    "keras.Sequential.compile": 1e-5,
    "keras.layers.Dense": 1e-5,
    "tensorflow.math.abs": 1e-5,
    "tensorflow.math.pow": 1e-5,
    "tensorflow.random.normal": 1e-5,
}

ENVIRONMENT = Environment("3.11", "2.21.0", "3.15")
PATIENCE = 120.0
"""Seconds. Ends a test that would wait for ever; no machine is so busy that it decides one."""
SERVER = [sys.executable, "-m", "energy_lsp", "serve"]


def full_capabilities(encodings: list[str] | None = None) -> types.ClientCapabilities:
    """A client that can do everything the server knows."""
    return types.ClientCapabilities(
        general=types.GeneralClientCapabilities(
            position_encodings=[types.PositionEncodingKind(name) for name in encodings or ["utf-16"]]
        ),
        text_document=types.TextDocumentClientCapabilities(
            hover=types.HoverClientCapabilities(
                content_format=[types.MarkupKind.Markdown, types.MarkupKind.PlainText]
            ),
            diagnostic=types.DiagnosticClientCapabilities(related_document_support=True),
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
                related_information=True, code_description_support=True, data_support=True
            ),
            code_action=types.CodeActionClientCapabilities(
                code_action_literal_support=types.ClientCodeActionLiteralOptions(
                    code_action_kind=types.ClientCodeActionKindOptions(
                        value_set=[types.CodeActionKind.QuickFix, types.CodeActionKind.Source]
                    )
                ),
                data_support=True,
                resolve_support=types.ClientCodeActionResolveOptions(properties=["edit"]),
            ),
        ),
        workspace=types.WorkspaceClientCapabilities(
            configuration=True,
            workspace_folders=True,
            workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
            did_change_configuration=types.DidChangeConfigurationClientCapabilities(
                dynamic_registration=True
            ),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True),
            inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True),
            code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
        ),
        window=types.WindowClientCapabilities(
            work_done_progress=True, show_document=types.ShowDocumentClientCapabilities(support=True)
        ),
        notebook_document=types.NotebookDocumentClientCapabilities(
            synchronization=types.NotebookDocumentSyncClientCapabilities()
        ),
    )


class Session:
    """A client connected to a server, with the workspace both know."""

    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client = client
        self.root = root
        self.statuses: list[Any] = []
        self.registrations: list[types.Registration] = []
        self.refreshes: dict[str, int] = {}
        self.result: types.InitializeResult | None = None
        self._versions: dict[str, int] = {}
        self._listen()

    def _listen(self) -> None:
        @self.client.feature("energyLsp/status")
        def status(params: Any) -> None:
            self.statuses.append(params)

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            self.registrations.extend(params.registrations)

        for method in (types.WORKSPACE_INLAY_HINT_REFRESH, types.WORKSPACE_CODE_LENS_REFRESH):
            self._count(method)

    def _count(self, method: str) -> None:
        @self.client.feature(method)
        def refresh(params: None) -> None:
            self.refreshes[method] = self.refreshes.get(method, 0) + 1

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def open(self, name: str, text: str | None = None) -> str:
        uri = self.uri(name)
        content = (self.root / name).read_text("utf-8") if text is None else text
        self._versions[uri] = 1
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, content))
        )
        return uri

    def change(self, uri: str, where: tuple[int, int, int, int] | None, text: str) -> int:
        self._versions[uri] += 1
        change: types.TextDocumentContentChangeEvent
        if where is None:
            change = types.TextDocumentContentChangeWholeDocument(text)
        else:
            start, end = types.Position(*where[:2]), types.Position(*where[2:])
            change = types.TextDocumentContentChangePartial(types.Range(start, end), text)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self._versions[uri], uri), [change]
            )
        )
        return self._versions[uri]

    async def hover(self, uri: str, line: int, character: int) -> str | None:
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        answer = await asyncio.wait_for(self.client.text_document_hover_async(params), PATIENCE)
        if answer is None:
            return None
        assert isinstance(answer.contents, types.MarkupContent)
        return answer.contents.value

    async def pull(self, uri: str, previous: str | None = None) -> Any:
        params = types.DocumentDiagnosticParams(
            types.TextDocumentIdentifier(uri), previous_result_id=previous
        )
        return await asyncio.wait_for(self.client.text_document_diagnostic_async(params), PATIENCE)

    async def actions(self, uri: str, line: int, only: list[str] | None = None) -> list[Any]:
        where = types.Range(types.Position(line, 0), types.Position(line, 80))
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(uri), where, types.CodeActionContext([], only)
        )
        return list(
            await asyncio.wait_for(self.client.text_document_code_action_async(params), PATIENCE) or []
        )

    async def command(self, name: str, argument: dict[str, Any], token: str | None = None) -> Any:
        params = types.ExecuteCommandParams(name, [argument], token)
        return await self.client.workspace_execute_command_async(params)

    async def until(self, condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
        async def poll() -> None:
            while not condition():
                await asyncio.sleep(0.02)

        await asyncio.wait_for(poll(), seconds)


Start = Callable[..., AbstractAsyncContextManager[Session]]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text('[tool.energy-lsp]\nhotspots = 2\nselect = ["pow2"]\n')
    (root / "model.py").write_text(MODEL)
    return root


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "energy.db"
    add_figures(path, FIGURES)
    return path


def add_figures(
    path: Path,
    joules: dict[str, float],
    *,
    estimated: bool = False,
    run_id: str = "run-1",
    file: str = "model.py",
    source: str = MODEL,
    project: str = "project",
    notes_texts: bool = True,
    shapes: tuple[str, ...] = (),
    environment: Environment = ENVIRONMENT,
    project_id: str = "",
    started: str = "2026-11-16T02:00:00+00:00",
) -> None:
    """Store one run with these joules per call of these APIs, wherever the source calls them; each as often as it says."""
    run = Run(
        id=run_id,
        machine=Machine("Test CPU", "", 8 << 30, "Linux", ""),
        environment=environment,
        command=f"python {file}",
        started=started,
        meter="rapl",
        estimated=estimated,
        stable=True,
        project=project,
        project_id=project_id,
    )
    document = Document(source)
    measurements = []
    for call in document.analyse().calls():
        value = joules.get(call.api)
        if value is None:
            continue
        written = document.source[call.span.start_byte : call.span.end_byte]
        measurements.append(
            Measurement(
                id="",
                run_id=run_id,
                api=call.api,
                file=file,
                line=call.span.start.row + 1,
                signature=InputSignature(shapes),
                seconds=0.5,
                joules={
                    "cpu": Quantity(value * 0.75, value * 0.01),
                    "ram": Quantity(value * 0.25, value * 0.01),
                },
                count=call.runs.times,
                repeats=5,
                resolved=True,
                method="in place",
                low=value * 0.9,
                high=value * 1.1,
                column=call.span.start.column + 1 if notes_texts else 0,
                function=call.function if notes_texts else "",
                text=call_text(written) if notes_texts else "",
            )
        )
    with Database.open(path) as database:
        database.add_run(run, measurements)


@pytest.fixture
def figures() -> Callable[..., None]:
    return add_figures


@pytest.fixture
def start(workspace: Path, database: Path, tmp_path: Path) -> Start:
    """Start a server with a client of the wanted profile on the workspace."""
    environment = {**os.environ, "ENERGY_LSP_DB": str(database), "HOME": str(tmp_path)}

    @asynccontextmanager
    async def session(
        profile: str = "full",
        *,
        folders: list[Path] | None = None,
        options: Any = None,
        configuration: dict[str, Any] | None = None,
        encodings: list[str] | None = None,
        arguments: list[str] | None = None,
        command: list[str] | None = None,
    ) -> AsyncIterator[Session]:
        client = make_test_lsp_client()
        if configuration is not None:
            client.set_configuration(configuration, section="energyLsp")
        await client.start_io(*(command or SERVER), *(arguments or []), env=environment)
        one = Session(client, workspace)
        full = profile == "full"
        capabilities = full_capabilities(encodings) if full else types.ClientCapabilities()
        roots = [workspace] if folders is None else folders
        one.result = await client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities,
                root_uri=None if full else workspace.as_uri(),
                workspace_folders=[types.WorkspaceFolder(root.as_uri(), root.name) for root in roots]
                if full
                else None,
                initialization_options=options,
            )
        )
        try:
            yield one
        finally:
            await asyncio.wait_for(client.shutdown_session(), PATIENCE)
            await client.stop()

    return session
