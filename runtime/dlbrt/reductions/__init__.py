"""What iterations do besides storing to rows: reductions, ordered containers, standard output; no MPI."""
