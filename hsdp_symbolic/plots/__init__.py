"""Pictures: the only code that imports matplotlib."""
