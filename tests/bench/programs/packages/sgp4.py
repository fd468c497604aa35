"""Elements of a satellite, within their ranges and outside."""

from types import SimpleNamespace

from sgp4.conveniences import check_satrec
from sgp4.ext import rv2coe

for sat in (
    SimpleNamespace(argpo=1.0, inclo=0.5, mo=6.0, nodeo=0.0),
    SimpleNamespace(argpo=7.0, inclo=0.5, mo=-6.0, nodeo=9.0),
):
    try:
        check_satrec(sat)
        print("in range")
    except ValueError as error:
        print(error)
print(
    [
        value.hex() if isinstance(value, float) else value
        for value in rv2coe([6524.834, 6862.875, 6448.296], [4.901327, 5.533756, -1.976341], 398600.4418)
    ]
)
