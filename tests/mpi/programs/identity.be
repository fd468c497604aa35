dlb: identity.py:86: run by rank 0 alone: elements of rows are also reached under another name
dlb: identity.py:86: run by rank 0 alone: memory of elements of rows is also reached under another name
