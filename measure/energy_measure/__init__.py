"""What running costs: meters, sampling, instrumentation, attribution and statistics."""
