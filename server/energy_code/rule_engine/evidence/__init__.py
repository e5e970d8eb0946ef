"""What is known of a rule's saving: workloads, verdicts, pages."""
