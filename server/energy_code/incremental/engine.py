"""The interpreter's memory: evaluates modules and functions, and keeps every result until something it looked at changes.

Each evaluation notes the questions it asked (a global, a class attribute, what a function returns) with the answers it
got. After an edit a kept result is asked its questions again; while the answers are the same, it stands.
`invalidation.py` says what makes one stale.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from energy_code.incremental.contexts import Contexts
from energy_code.incremental.external_writes import ExternalWrites
from energy_code.incremental.invalidation import Invalidation
from energy_code.incremental.modules import Modules
from energy_code.incremental.objects import Objects
from energy_code.incremental.order import Order
from energy_code.incremental.summaries import Summaries
from energy_code.interpreter.classes import Classes
from energy_code.interpreter.domain.definitions import Function, Module
from energy_code.interpreter.domain.values import Value
from energy_code.interpreter.evaluation_stack import EvaluationStack
from energy_code.interpreter.operations.imports import Imports, Resolve
from energy_code.interpreter.revisions import Revisions
from energy_code.interpreter.running import run_function, run_statement
from energy_code.lowering.expressions import lower_annotation
from energy_code.models.catalogue import PublicNames
from energy_data.catalogue.catalogue import Catalogue

Importers = Callable[[Module], list[Module]]


class Engine:
    """Everything the modules of one program share: parts with their own state, put together here and nowhere else."""

    def __init__(
        self,
        catalogue: Catalogue,
        resolve: Resolve = lambda name, importer: None,
        importers: Importers = lambda module: [],
    ) -> None:
        self.importers = importers
        """The modules of the project that import one."""
        self.revisions = Revisions()
        self.public = PublicNames(catalogue)
        self.imports = Imports(self.public, resolve)
        self.classes = Classes(self.public)
        self.contexts = Contexts(self.revisions)
        self.writes = ExternalWrites(self.revisions)
        self.stack = EvaluationStack()
        self.invalidation = Invalidation(
            self.revisions,
            self.contexts,
            self.classes,
            self.writes,
            self.stack,
            self.global_value,
        )
        self.modules: Modules = Modules(
            self.revisions,
            self.imports,
            self.classes,
            self.writes,
            self.invalidation,
            importers,
            partial(run_statement, self),
            self.written_by,
        )
        self.order = Order(
            self.revisions, self.contexts, self.writes, self.invalidation.read_set, self.invalidation.changed
        )
        self.summaries = Summaries(
            self.revisions,
            self.contexts,
            self.stack,
            self.invalidation,
            self.order,
            partial(run_function, self),
        )
        self.objects: Objects = Objects(
            self.revisions,
            self.classes,
            self.contexts,
            self.writes,
            self.stack,
            self.summaries,
            self.modules.gather_writes,
        )
        self.parse_annotation = lower_annotation
        self.annotations_followed: list[Value] = []
        """Names of annotations, in quotes or as aliases, that are being looked up."""

    def global_value(self, module: Module, name: str) -> Value:
        """A global name: what makes a result stale is known before the part that answers this."""
        return self.modules.global_value(module, name)

    def written_by(self, function: Function, name: str) -> Value:
        """What a function binds a global to: modules come before the part that answers this."""
        return self.objects.written_by(function, name)

    def edited(self) -> None:
        """The text of the program is another one now."""
        self.revisions.edited()
        self.invalidation.edited()
        self.order.edited()
