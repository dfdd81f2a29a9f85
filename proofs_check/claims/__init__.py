"""What the paper's text says beyond its statements, one module per part, same stems as `hsdp_symbolic/paper/`."""
