def smooth(temperature_now, temperature_next, conductivity, boundary_left, boundary_right, number_of_cells, time_step):
    # dlb: parallel, BLOCK(temperature_next, conductivity), WHOLE(boundary_left, boundary_right)
    for cell in range(1, number_of_cells - 1):
        temperature_next[cell] = temperature_now[cell] + time_step * conductivity[cell] * (
            temperature_now[cell - 1] - 2 * temperature_now[cell] + temperature_now[cell + 1]
        ) + boundary_left[0] + boundary_right[0]


a, b = [0.0] * 6, [1.0] * 6
smooth(a, b, [0.1] * 6, [0], [0], 6, 0.01)
print(b)
