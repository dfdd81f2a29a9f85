"""`python -m hsdp_symbolic` is `hsdp`."""

import sys

from .cli import main

sys.exit(main())
