"""Nothing to witness: the facts about what shifts spend are definitions."""
