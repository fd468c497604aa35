"""The form of loops and their dependences: filled by the passes."""

from __future__ import annotations

from dlbc.diagnostics.diagnostic import CatalogueEntry, E

LOOPS: dict[str, CatalogueEntry] = {
    # The form of the loop.
    "DLB201": CatalogueEntry(
        E,
        "the target of a parallel loop must be a name or a tuple of names, not `{target}`",
        "take a name as the target and store it in the body",
    ),
    "DLB202": CatalogueEntry(
        E,
        "`break` ends the loop early, so whether an iteration runs depends on the ones before it",
        "run all iterations and pick the result afterwards, or leave this loop sequential",
    ),
    "DLB203": CatalogueEntry(
        E,
        "`return` leaves the loop early, so whether an iteration runs depends on the ones before it",
        "store the result by index, and return after the loop",
    ),
    "DLB204": CatalogueEntry(
        E,
        "`yield` hands out values while the loop runs; iterations on other ranks cannot do that",
        "store the values by index, and yield them after the loop",
    ),
    "DLB205": CatalogueEntry(
        E,
        "{what} suspends the enclosing coroutine; a parallel body must run through",
        "await before or after the loop",
    ),
    "DLB206": CatalogueEntry(
        E,
        "the body rebinds the {word} name `{name}`, which all iterations share",
        "bind a local name in the body, and the {word} one after the loop",
    ),
    "DLB207": CatalogueEntry(
        E,
        "a parallel loop cannot stand directly in the body of class `{owner}`",
        "move the loop into a function, and call it in the class body",
    ),
    "DLB208": CatalogueEntry(
        E,
        "{what} without arguments means the method it stands in; the loop body moves out of it",
        "write `super(Class, self)`, or take the bound method to a name before the loop",
    ),
    "DLB209": CatalogueEntry(
        E,
        "`{name}` looks names up by text, which cannot be seen through",
        "use the names directly, or call `{name}` before the loop",
    ),
    # Dependences.
    "DLB301": CatalogueEntry(
        E,
        "iterations {index}={first} and {index}={second} both touch {element}: the iterations are not "
        "independent (proved)",
        "store to elements that no other iteration touches (of another array than the one read, or of "
        "scratch space made in the body), or leave this loop sequential",
    ),
    "DLB302": CatalogueEntry(
        E,
        "two iterations may touch the same element of `{array}`; it cannot be excluded (not proved either)",
        "use subscripts a*{index} + c with the same integer a, copy what is read before the loop, or, if "
        "you know that they never meet (`dlbc witness` looks at a run), add `assume_independent`",
    ),
    "DLB303": CatalogueEntry(
        E,
        "iterations {index}={first} and {index}={second} both store to {element}: the iterations are not "
        "independent (proved)",
        "give each iteration an element of its own, subscripted by {index}; make scratch space in the body, "
        "or name it in `private(...)`",
    ),
    "DLB304": CatalogueEntry(
        E,
        "it cannot be seen that each iteration stores to elements of `{array}` of its own (nor is the "
        "contrary proved): no axis of every store is subscripted by a*{index} + c, after axes that are "
        "surely integers",
        "subscript one axis by {index} in every store, write int(...) around other subscripts before it "
        "and `:` for `...`, and take what stands under a key to a name of its own before the loop; what is "
        "stored to by key (`d[key] = e`) must be a plain name that the body does not read",
    ),
    "DLB305": CatalogueEntry(
        E,
        "`{array}` is updated at elements that several iterations may share, and is no plain name that the "
        "body updates by one operator and uses in no other way",
        "update it by one operator (+ - * & | ^ max min) alone and read it after the loop; take an "
        "attribute to a name before the loop: `hist = self.hist`",
    ),
    "DLB306": CatalogueEntry(
        E,
        "the loop stores into `{array}` and uses it as a whole; it cannot be excluded that an iteration "
        "sees what another stores (not proved either)",
        "take a copy before the loop, or subscript it by the loop's variable; make scratch space in the "
        "body, or name it in `private`; count under keys by `d[key] = d.get(key, 0) + e` alone",
    ),
    "DLB307": CatalogueEntry(
        E,
        "the loop stores into `{array}`, but no variable of it counts the iterations",
        "loop over `range(...)` or `enumerate(...)`, and subscript by that variable",
    ),
    "DLB308": CatalogueEntry(
        E,
        "`{name}` is an item of what the loop runs over, and this may change it in place",
        "loop over `i in range(len(...))`, and store by index: `rows[i] = ...`; where a new object will do, "
        "write `x = x + e` in place of `x += e`",
    ),
    "DLB309": CatalogueEntry(
        E,
        "this may change an object in place that cannot be seen to belong to the iteration (not proved "
        "either)",
        "write `x = x + e` in place of `x += e`, work on a `.copy()`, or store into an array by index",
    ),
    "DLB310": CatalogueEntry(
        E,
        "`{name}` may be read before this iteration has bound it: it carries a value from one iteration to "
        "the next, or from before the loop",
        "bind `{name}` on every path before it is read, or compute it from the loop's variable; collect what "
        "grows by `items.append(e)`, and put it together after the loop",
    ),
    "DLB311": CatalogueEntry(
        E,
        "`{name}` is updated from its own value of the iteration before, in a form that iterations cannot "
        "be combined from",
        "write `{name} += e` (or - * & | ^), `{name} = max({name}, e)` (or min), `{name} = {name} and e` "
        "(or or) with an `e` that calls no function, or store each iteration's part in an array by index",
    ),
    "DLB312": CatalogueEntry(
        E,
        "the clause `reduction` names `{name}`, which the body does not update in a form that iterations "
        "can be combined from",
        "update a name from before the loop (`s += e`, `s = max(s, e)`, `hist[k] += e`) and use it in no "
        "other way, or leave the clause out; take an attribute to a name first",
    ),
    "DLB313": CatalogueEntry(
        E,
        "function `{function}` reads `{name}`, which the body binds; on another rank it would not see it",
        "pass `{name}` to the function as an argument",
    ),
    "DLB314": CatalogueEntry(
        E,
        "a function or generator made in the body sees the body's names, and is stored beyond the iteration",
        "bind what it needs as defaults, or store the values it is to use",
    ),
    "DLB315": CatalogueEntry(
        E,
        "`{function}` may be part of `{name}`, which iterations share, and this may change it in place",
        "write `{function} = {function} + e`, which makes a new object",
    ),
    "DLB316": CatalogueEntry(
        E,
        "the loop runs over `{array}` and stores into it",
        "loop over `range(len({array}))`, and subscript by that variable",
    ),
    "DLB320": CatalogueEntry(
        E,
        "the clause says axis={axis}, but the subscripts of `{array}` distribute it along axis {found}",
        "leave `axis` out, or write axis={found}",
    ),
    "DLB321": CatalogueEntry(
        E,
        "`{array}` cannot be distributed by {distribution}: the loop does not subscript it by {index} on "
        "one axis in every access",
        "name it in `WHOLE(...)`, which gives every rank all of it",
    ),
    "DLB323": CatalogueEntry(
        E,
        "the loop stores into `{array}`, but its body binds the loop's variable `{name}` again",
        "give the other variable a name of its own, and subscript by the loop's",
    ),
    "DLB324": CatalogueEntry(
        E,
        "`{name}` is accumulated over the iterations and used in the body, which so depends on the "
        "iterations before",
        "use `{name}` after the loop alone, compute it from the loop's variable, collect what it counts by "
        "`items.append(e)`, or leave this loop sequential",
    ),
    "DLB325": CatalogueEntry(
        E,
        "`{name}` is updated by `{one}` and by `{other}`, which cannot be combined over iterations",
        "update it by one operator, or take a name for each",
    ),
    "DLB326": CatalogueEntry(
        E,
        "`{name}` looks like the best value so far, but it cannot be seen that each iteration offers one "
        "and that nothing else depends on it",
        "write `if v > {name}: {name}, where = v, i` with a name `v`, and use both after the loop alone, "
        "or `{name} = max({name}, (v, -i))`",
    ),
    "DLB327": CatalogueEntry(
        E,
        "expected every variable of the loop to be of a class (loop, distributed, broadcast, reduction, "
        "ordered container, private, last value), found none for `{name}`",
        "please report this, with the file",
    ),
    "DLB328": CatalogueEntry(
        E,
        "`{name}` is updated where the body catches what the update may raise, but iterations are put "
        "together when they have run",
        "do in the `try` what the value is made of, and update `{name}` in its `else`, or after it",
    ),
}
