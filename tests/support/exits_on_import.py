"""A program that was not meant to be imported."""

import sys

sys.exit()
