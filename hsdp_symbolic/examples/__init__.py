"""Worked examples: functions that return what they found, so that notebooks and the command line can show it."""
