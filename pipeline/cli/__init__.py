"""The command line."""

import os

from pipeline import allocation

for _name, _value in allocation.SETTINGS.items():
    os.environ.setdefault(_name, _value)
