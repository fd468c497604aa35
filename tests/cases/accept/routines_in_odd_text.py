#!/usr/bin/env python3
import functools
import numpy as np
routine = "a name of the user"


def odd(u, v, p, w, names):
	"""Tabs,
	strings over lines and statements in a row."""
	def traced(f):
		return lambda *a: (print(f.__name__, u[0]), f(*a))[1]
	def late(k):
		return u[k] + 1
	if len(u):
		# dlb: iterate
		for t in range(3): # of three
			text = """keeps
	its indentation"""; u[0] += t; v += 0.5
			# dlb: parallel
			for i, e in enumerate(w):
				v[p[i]] = u[i] * 2 + e
			# dlb: parallel, cost(w[i] + 1)
			for i in range(len(u)): u[i] = u[i] + v[i]
			if t: u[1] -= 1
			print(f"{u[0]=} {t = } {v[t]!s:>8} {len(u)=}", u[0:2], # a comment
				v[-1], *[x for x in u[2:]], sep=", ")
			@traced
			def inner(a, b=u[1]):
				return a + b + u[2]
			class Local:
				t = u
				first = t[0]
			total = (lambda k=v[0]: k + u[1])() if t % 2 else functools.reduce(lambda a, b: a + b, u)
			print(total, inner(1), late(t), Local.first, max(u, key=lambda e: -e),
				{k: u[k] for k in range(2)}, sorted(u)[0], text, routine)
			with np.errstate(all="ignore"):
				v[3] /= u[3] - u[3]; v[3] = 1.0
			try: assert u[0] < 0, u[0]
			except AssertionError as error: print(error)
			finally: del names[t]
			while (first := u[0]) < 0: u[0] += 1
			match u[1]:
				case 0.0 if v[0] > 1: print("none")
				case _ if v[1] > 1: print("some", first)
			np.add(u, 1, u); np.copyto(v[:2], u[2]); w[0] += 1
			exec("u[4] = 2")
			if isinstance(u, np.ndarray) and u is not v and u.ndim == 1: print(u.shape, len(v), v.dtype)
		else: print("end", u[3])
	return u.sum(), v.sum(), w

print(odd(np.arange(5.0), np.zeros(5), np.array([3, 1, 0, 2, 4]), np.ones(5), dict(enumerate("abc"))))
