def run(n):
	s = t = 0
	# dlb: parallel
	for i in range(n): s += i; s += 1  # both at once
	# dlb: parallel
	for i in range(n):  # a comment on the header
		"""A text that stands first."""

		# A comment below a blank line.
		t += i
		t += 2  # the second
	return s, t


print(run(4))
