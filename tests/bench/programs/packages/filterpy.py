"""Covariances of white noise, in the order of dimensions."""

import numpy as np
from filterpy.common import Q_discrete_white_noise
from filterpy.common.discretization import order_by_derivative
from show import show

show("ordered", order_by_derivative(np.arange(9.0).reshape(3, 3), 3, 2))
show("noise", Q_discrete_white_noise(dim=3, dt=0.25, var=1.5, block_size=2, order_by_dim=False))
