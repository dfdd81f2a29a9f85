"""What the bounds need beyond arithmetic: one file for each function."""
