SETTINGS = {"dt": 0.5, "softening": 0.01, "names": ["a", "b"]}
G = 6.5
