"""Nothing to witness: the facts about runs that go on are definitions."""
