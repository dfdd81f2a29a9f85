"""What numbers are made of: interval engines, doubles rounded to the safe side, recorded array operations."""
