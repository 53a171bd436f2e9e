"""The command line."""

import os
import sys

from pipeline import allocation

os.environ.update(allocation.settings(sys.argv[1:]) | allocation.wished(os.environ))
