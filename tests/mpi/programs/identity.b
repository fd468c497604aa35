[(False, 'subtract', False, True), (True, 'add', True, True), (False, 'subtract', True, True), (True, 'add', False, True), (False, 'subtract', True, True), (True, 'add', True, True), (False, 'subtract', False, True), (True, 'add', True, True), (False, 'subtract', True, True), (True, 'add', False, True), (False, 'subtract', True, True)]
[True, True, True, True, True, True, True, True, True, True, True] [True, True, True, True, True, True, True, True, True, True, True]
[True, True, True, True, True, True, True, True, True, True, True] [True, True, True, True, True, True, True, True, True, True, True]
True True add
[0.0, 7.0, 7.0, 14.0, 21.0, 35.0, 56.0, 91.0, 147.0, 238.0, 385.0]
[True, True, True, True, True, True, True, True, True, True, True] True
[False, True, True, False, True, True, False, True, True, False, True]
[5.0, 5.0, 5.0, 5.0] [[5.0, 5.0], [5.0, 5.0], [5.0, 5.0], [5.0, 5.0], [5.0, 5.0], [5.0, 5.0], [5.0, 5.0], [5.0, 5.0], [5.0, 5.0], [5.0, 5.0], [5.0, 5.0]]
[[2.0, 3.0], [3.0, 4.0], [4.0, 5.0], [5.0, 6.0], [6.0, 7.0], [7.0, 8.0], [8.0, 9.0], [9.0, 10.0], [10.0, 11.0], [11.0, 12.0], [10.0, 11.0]] True
[[2.0, 2.0], [3.0, 3.0], [4.0, 4.0], [5.0, 5.0], [6.0, 6.0], [7.0, 7.0], [8.0, 8.0], [9.0, 9.0], [10.0, 10.0], [11.0, 11.0], [10.0, 11.0]] [9, 9]
[[3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 10.0], [11.0, 12.0], [13.0, 14.0], [15.0, 16.0], [17.0, 18.0], [19.0, 20.0], [21.0, 22.0], [20.0, 21.0]] [[6.0, 7.0], [8.0, 9.0], [10.0, 11.0], [12.0, 13.0], [14.0, 15.0], [16.0, 17.0], [18.0, 19.0], [20.0, 21.0], [22.0, 23.0], [21.0, 22.0], [20.0, 21.0]] [[6.0, 7.0], [8.0, 9.0], [10.0, 11.0], [12.0, 13.0], [14.0, 15.0], [16.0, 17.0], [18.0, 19.0], [20.0, 21.0], [22.0, 23.0], [21.0, 22.0], [20.0, 21.0]]
[[[0, 1], [0, 3]], [[1, 1], [1, 3]], [[2, 1], [2, 3]], [[3, 1], [3, 3]], [[4, 1], [4, 3]], [[5, 1], [5, 3]], [[6, 1], [6, 3]], [[7, 1], [7, 3]], [[8, 1], [8, 3]], [[9, 1], [9, 3]], [[10, 1], [10, 3]]] [9, 3] True
