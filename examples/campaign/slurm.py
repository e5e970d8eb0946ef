"""Workers for a campaign on Slurm: whole nodes, one worker each.

    pip install dask-jobqueue
    python slurm.py NODES

Prints the scheduler's address, for `energy-lsp campaign PLAN.toml --scheduler ADDRESS`. The nodes are given back when this
program ends.
"""

import sys

from dask_jobqueue import SLURMCluster

cluster = SLURMCluster(
    cores=4,
    processes=1,
    memory="16GB",
    walltime="12:00:00",
    job_extra_directives=["--exclusive"],  # nobody else's jobs on the node
    worker_extra_args=["--resources", "energy=1", "--memory-limit", "0"],
)
cluster.scale(jobs=int(sys.argv[1]))
print(cluster.scheduler_address, flush=True)
input("Press return when the campaign is done. ")
