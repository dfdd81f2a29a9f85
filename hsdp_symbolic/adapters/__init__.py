"""Adapters to other privacy libraries, each in a module of its own that needs that library.

`pip install hsdp_symbolic[adapters]` brings both. Nothing else in the package imports them.
"""
