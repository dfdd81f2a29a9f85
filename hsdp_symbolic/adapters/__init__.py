"""Adapters to other privacy libraries, each in a module of its own that needs that library.

`pip install hsdp_symbolic[adapters]` brings dp-accounting, `hsdp_symbolic[opacus]` Opacus and torch. Nothing else in
the package imports them.
"""
