"""The command line."""

import os
import sys

from pipeline import allocation

for _name, _value in allocation.settings(sys.argv[1:]).items():
    os.environ.setdefault(_name, _value)
