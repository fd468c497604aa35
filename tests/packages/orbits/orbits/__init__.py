"""A small package of twelve modules with annotated loops in most of them."""

from .config import SETTINGS
from .physics import step

VERSION = "1.0"
