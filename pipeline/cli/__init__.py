"""The command line.

Its import sets the variables of the memory allocator, before a library reads them.
"""

import os
import sys

from pipeline import allocator

os.environ.update(allocator.settings(sys.argv[1:]) | allocator.user_variables(os.environ))
