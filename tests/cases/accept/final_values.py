def run(out, n):
  # dlb: parallel, CYCLIC, schedule(GDDLB, group=4)
  for i in range(n):
    t = i * i
    if i % 3 == 0:
      seen = t
    out[i] = t
  try:
    return i, t, seen
  except NameError:
    return None


print(run([0] * 7, 7))
