"""Campaigns: many projects measured on one machine or on fifty, each job exactly once in the result.

`plan` reads what is to be measured, `jobs` makes keyed jobs of it, `engine` hands them to Dask, `worker` runs in Dask's
workers and starts `attempt`, a process that measures one job, `results` keeps and merges what comes back, `find` writes
a plan for a folder of repositories.
"""
