kept_in_places.py:37:16: remark[DLB412]: the source of `make` is not in this file; dlbc assumes that it changes nothing that iterations share
   37 |         made = make(i)
      |                ^^^^^^^
  help: define the function in this file, so that dlbc can check it; `--strict` refuses such calls
