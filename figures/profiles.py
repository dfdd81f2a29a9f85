"""Draws profiles and writes its numbers beside this script; takes the options of `hsdp figures`."""

import sys
from pathlib import Path

from hsdp_symbolic.cli import main

sys.exit(main(["figures", "profiles", "--out", str(Path(__file__).parent), *sys.argv[1:]]))
