"""The command line."""

import os
import sys

from pipeline import allocator

os.environ.update(allocator.settings(sys.argv[1:]) | allocator.user_variables(os.environ))
