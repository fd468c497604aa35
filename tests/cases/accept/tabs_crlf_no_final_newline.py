"""Tabs and CRLF."""; from __future__ import division; import sys

def f(A):
	# dlb: parallel
	for i in range(3):
		if i:
			A[i] = """a
  b"""

f([0] * 3)
# dlb: parallel
for i in range(3):
	pass