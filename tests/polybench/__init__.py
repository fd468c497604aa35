"""The thirty kernels of PolyBench/C 4.2, element by element, and what is measured of them."""
