"""A dataset worth citing: everything measured as Parquet tables with units, a data card, a citation and checksums."""
