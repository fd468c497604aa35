cfg False
steps False
marks False
raw False
Config True
ndarray True
Counter True
array True
[False, False, True, False]
{0.25, 0.5} [1, 2, 3] [9.0, 1.0, 2.0, 3.0, 4.0]
False False
[1.0, -1.0, 3.0] [['first'], ['first'], ['first', 'second']] True
False True
True False True
False False
{77.0} [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [-3.0, -3.0, -3.0], [4.0, 4.0, 4.0], [5.0, 5.0, 5.0], [6.0, 6.0, 6.0], [7.0, 7.0, 7.0], [8.0, 8.0, 8.0], [9.0, 9.0, 9.0], [10.0, 10.0, 10.0], [11.0, 11.0, 11.0]]
False True
True
