"""The paper's statements, one module per part, in reading order. Each is derived step by step."""
