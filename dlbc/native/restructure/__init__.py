"""Order-keeping restructuring of annotated loops: faster nests with the same bits."""

from dlbc.native.restructure.nest import Nest, Restructured, Variant
from dlbc.native.restructure.restructure import restructure

__all__ = ["Nest", "Restructured", "Variant", "restructure"]
