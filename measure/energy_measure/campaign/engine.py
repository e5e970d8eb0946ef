"""Runs a campaign on Dask, which schedules, retries and moves the tasks; nothing of that is done here."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from energy_measure.campaign.jobs import ANY_MACHINE, Job, jobs_of
from energy_measure.campaign.plan import Plan
from energy_measure.campaign.results import CampaignResults, JobOutcome
from energy_measure.campaign.worker import forget, prepare_environment, run_job, topic_of
from energy_measure.host.lock import host_name
from energy_measure.problems import MeasureProblem

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_SECONDS = 30.0
WORKER_SECONDS = 60.0
THREADS = 4
"""Of a local worker: one measures, the others build environments."""
ENERGY = {"energy": 1}
"""The worker's resource that a measurement takes; that keeps one worker from measuring twice. One *host* is kept from it
by the host's lock."""


@dataclass(frozen=True, slots=True)
class CampaignProgress:
    """How far a campaign is."""

    done: int
    failed: int
    jobs: int
    message: str


Tell = Callable[[CampaignProgress], None]


class SchedulerLost(Exception):  # noqa: N818
    """The scheduler went away before the campaign was done."""


def run_campaign(
    plan: Plan,
    *,
    scheduler: str = "",
    workers: int = 1,
    tell: Tell = lambda progress: None,
    announce: Callable[[str], None] = lambda line: None,
) -> list[JobOutcome]:
    """Measure what of a plan is not measured yet, and merge it; what became of each job.

    Raises `SchedulerLost` or `KeyboardInterrupt` with what is finished kept.
    """
    with CampaignResults(plan).opened() as results, _client(scheduler, workers, plan, announce) as client:
        hosts = _hosts(client)
        jobs = jobs_of(plan, set(hosts.values()))
        waiting = [job for job in jobs if not results.finished(job)]
        if len(waiting) < len(jobs):
            announce(f"{len(jobs) - len(waiting)} of {len(jobs)} jobs were measured before.")
        campaign = _Campaign(plan, client, results, hosts, jobs, tell)
        try:
            campaign.run(waiting)
        finally:
            results.merge(jobs)
        return [results.outcome(job) for job in jobs]


class _Campaign:
    """A campaign under way."""

    def __init__(
        self,
        plan: Plan,
        client: Client,
        results: CampaignResults,
        hosts: dict[str, str],
        jobs: Sequence[Job],
        tell: Tell,
    ) -> None:
        self.plan = plan
        self.client = client
        self.results = results
        self.hosts = hosts
        """Worker address → the host it is on."""
        self.jobs = jobs
        self.tell = tell
        self.done = sum(results.finished(job) for job in jobs)
        self.failed = 0

    def run(self, waiting: Sequence[Job]) -> None:
        """Submit all jobs, keep what comes back as it comes."""
        from distributed import as_completed

        # What the workers say they are at comes in Dask's own thread.
        self.client.subscribe_topic(
            topic_of(self.results.campaign()), lambda event: self._tell(str(event[1]))
        )
        prepared = self._prepare(waiting)
        futures = {self._submit(job, prepared): job for job in waiting}
        self._tell("started")
        for future in as_completed(list(futures)):
            self._keep(futures[future], future)
            if self.client.status not in ("running", "connecting", "newly-created"):
                break
        if self.client.status != "running" and any(not self.results.finished(job) for job in waiting):
            raise SchedulerLost(self._state())

    def _prepare(self, jobs: Sequence[Job]) -> dict[tuple[str, str], list[Future]]:
        """Environments are built ahead, on every host, by tasks that take no energy resource."""
        wanted = sorted({(job.path, job.python) for job in jobs if job.create_env})
        return {
            (path, python): [
                self.client.submit(
                    prepare_environment,
                    path,
                    python,
                    self.results.campaign(),
                    workers=self._workers_of(host),
                    # A host that went away is not waited for: the job's own attempt makes what is missing.
                    allow_other_workers=True,
                    pure=False,
                    retries=self.plan.settings.retries,
                )
                for host in sorted(set(self.hosts.values()))
            ]
            for path, python in wanted
        }

    def _submit(self, job: Job, prepared: dict[tuple[str, str], list[Future]]) -> Future:
        return self.client.submit(
            run_job,
            job.as_message(),
            self.results.campaign(),
            prepared.get((job.path, job.python), []) if job.create_env else [],
            resources=ENERGY,
            workers=self._workers_of(job.host) if job.host != ANY_MACHINE else None,
            retries=self.plan.settings.retries,
            priority=-job.repeat,
            pure=False,
        )

    def _workers_of(self, host: str) -> list[str]:
        """The host's network addresses: a worker that is started again listens elsewhere on it.

        Simulated hosts share one, there it has to be the workers' own.
        """
        from distributed.comm import get_address_host

        own = {address for address, name in self.hosts.items() if name == host}
        machines = {get_address_host(address) for address in own}
        shared = any(get_address_host(address) in machines for address in self.hosts.keys() - own)
        return sorted(own if shared else machines)

    def _keep(self, job: Job, future: Future) -> None:
        """What came of a job, in the folder and in the database before the next is looked at."""
        try:
            result: dict[str, Any] = future.result()
        except Exception as problem:  # whatever a worker raised is what became of the job
            result = {"failure": _told(problem)}
        if self.client.status != "running" and "content" not in result:
            return  # it is not the job that failed
        if "content" in result:
            self.results.keep(job.key, result["content"])
            self.results.merge([job])
        failure = "" if self.results.finished(job) else result.get("failure") or "It gave no figures."
        outcome = JobOutcome(job, result.get("host", ""), failure, tuple(result.get("problems", ())))
        self.results.note(outcome)
        self.done += outcome.measured
        self.failed += not outcome.measured
        if outcome.measured:
            with contextlib.suppress(Exception):  # the hosts drop it by themselves in time
                self.client.run(forget, self.results.campaign(), [job.key], on_error="ignore")
        future.release()
        self._tell(f"{job.label}: {failure}" if failure else f"{job.label} measured at {outcome.host}")

    def _tell(self, message: str) -> None:
        self.tell(CampaignProgress(self.done, self.failed, len(self.jobs), message))

    def _state(self) -> str:
        return f"{self.done} of {len(self.jobs)} jobs are measured and kept"


def _told(problem: BaseException) -> str:
    from distributed.exceptions import KilledWorker

    if isinstance(problem, KilledWorker):
        return "Its workers were killed again and again."
    return f"{type(problem).__name__}: {problem}"


@contextmanager
def _client(scheduler: str, workers: int, plan: Plan, announce: Callable[[str], None]) -> Iterator[Client]:
    """Connected to the scheduler asked for, else with a cluster on this machine that ends with it."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise MeasureProblem(
            'Campaigns need Dask: install it with `pip install "energy-lsp[campaign]"`, here and on all workers.'
        ) from None

    settings = {
        "distributed.scheduler.allowed-failures": plan.settings.retries,
        "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS:g}s",
        "distributed.admin.tick.limit": "60s",
    }
    with dask.config.set(settings), contextlib.ExitStack() as stack:
        if scheduler:
            try:
                client = stack.enter_context(Client(scheduler, timeout=CONNECT_SECONDS))
            except (OSError, ValueError, TimeoutError) as problem:
                raise MeasureProblem(
                    f"There is no Dask scheduler at {scheduler} ({problem}); start one with `dask scheduler` and "
                    "workers with `dask worker ADDRESS --resources energy=1`."
                ) from problem
            client.run_on_scheduler(_allow_failures, plan.settings.retries)
        else:
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=workers,
                    threads_per_worker=THREADS,
                    processes=True,
                    resources=dict(ENERGY),
                    memory_limit=None,
                    dashboard_address=":0",
                    # What goes wrong with a job is told by us; the rest is Dask's own chatter on a busy machine.
                    silence_logs=logging.CRITICAL,
                )
            )
            client = stack.enter_context(Client(cluster))
        _await_workers(client, scheduler)
        if client.dashboard_link:
            announce(f"Dask's dashboard: {client.dashboard_link}")
        yield client


def _allow_failures(count: int, dask_scheduler: Any = None) -> None:
    """A worker's death is no reason to give up on what it ran: the default of 3 is for tasks that kill workers."""
    dask_scheduler.allowed_failures = max(count, dask_scheduler.allowed_failures)


def _await_workers(client: Client, scheduler: str) -> None:
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError:
        raise MeasureProblem(
            f"The scheduler at {scheduler} has no workers; start some with `dask worker {scheduler} --resources energy=1`."
        ) from None
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    if not any(worker["resources"].get("energy", 0) >= 1 for worker in workers):
        raise MeasureProblem(
            "No worker has the resource that measurements take; start them with `dask worker ADDRESS --resources energy=1`."
        )


def _hosts(client: Client) -> dict[str, str]:
    """Worker address → host; a worker that does not answer is as good as not there."""
    found: dict[str, str] = client.run(host_name, on_error="ignore")
    return found
