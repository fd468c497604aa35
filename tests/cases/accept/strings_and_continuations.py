texts = [""] * 4


def fill(n):
        # dlb: parallel
        for i in range(n):
                a = """first
    second
\tthird
"""
                b = i + \
                    1
                c = [
                    b,
                  i,  # oddly indented

                ]
                texts[i] = f"{a}{b}{c}" \
'''
  end'''


fill(4)
print(texts)
