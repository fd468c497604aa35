"""DLB2xx: forms of loops that are not supported; DLB3xx: dependences. Both are reported by the passes."""

from __future__ import annotations

from dlbc.diagnostics.diagnostic import CatalogueEntry, E

#: What iterations put into containers that a dictionary holds.
_IN_DICTIONARIES = {
    "counters": "count in dictionaries of numbers, one for each counter: `first[{key}] = "
    "first.get({key}, 0) + {value}`",
    "pairs": "use one dictionary with pairs as keys: `{array}[{first}, {second}] = ...`",
    "item": "give the item a name as it is stored, `item = {array}[{key}] = {value}`, and use `item` then",
    "named": "where the body uses `{array}[{key}]` after it has stored `{value}` there, write `{value}`",
    "keyed_items": "iterations may only store items to a dictionary: give each a name as it is stored, "
    "`item = {array}[key] = ...`, use `item` then, and use `{array}` after the loop",
}

LOOPS: dict[str, CatalogueEntry] = {
    # The form of the loop.
    "DLB201": CatalogueEntry(
        E,
        "expected a name or a tuple of names as the target of a parallel loop, found `{target}`",
        "use a name as the target and store it in the body",
    ),
    "DLB202": CatalogueEntry(
        E,
        "`break` ends the loop early, so whether an iteration runs depends on the ones before it",
        "run all iterations and pick the result afterwards, or leave this loop sequential",
    ),
    "DLB203": CatalogueEntry(
        E,
        "`return` leaves the loop early, so whether an iteration runs depends on the ones before it",
        "store the result by index and return after the loop",
    ),
    "DLB204": CatalogueEntry(
        E,
        "`yield` hands out values while the loop runs; iterations on other ranks cannot do that",
        "store the values by index and yield them after the loop",
    ),
    "DLB205": CatalogueEntry(
        E,
        "{what} suspends the enclosing coroutine, but a parallel body must run without suspension",
        "await before or after the loop",
    ),
    "DLB206": CatalogueEntry(
        E,
        "the body rebinds the {word} name `{name}`, which all iterations share",
        "bind a local name in the body, and assign the {word} name after the loop",
    ),
    "DLB207": CatalogueEntry(
        E,
        "a parallel loop cannot stand directly in the body of class `{owner}`",
        "move the loop into a function and call it in the class body",
    ),
    "DLB208": CatalogueEntry(
        E,
        "{what} refers to the method or class around it, but the loop body is moved out of there",
        "write `{instead}`",
    ),
    "DLB209": CatalogueEntry(
        E,
        "`{name}` looks names up by text, so dlbc cannot tell which names it uses",
        "use the names directly, or call `{name}` before the loop",
    ),
    # Dependences.
    "DLB301": CatalogueEntry(
        E,
        "iterations {index}={first} and {index}={second} both access {element}, so the iterations are not "
        "independent (proved)",
        "store only to elements that no other iteration accesses (in an array other than the one that is "
        "read, or in scratch space made in the body), or leave this loop sequential",
        {
            "frame": "take the column out before the loop (`values = {column}.to_numpy(copy=True)`), store "
            "`values[{index}] = ...` in the body, and put it back after the loop (`{column} = values`)",
            "scratch": "make it in each iteration: move {made} into the body; or add the clause "
            "`private({array})`",
            "element": "update a name in the body: read `{element}` into it before the loop, and store it "
            "there after the loop",
            "other": "if iterations mean the values from before the loop, read them from a copy (`old = "
            "{array}.copy()`) or store into another array; if each needs what another one computes, leave "
            "this loop sequential, or annotate a loop inside or around it",
            **_IN_DICTIONARIES,
        },
    ),
    "DLB302": CatalogueEntry(
        E,
        "two iterations may access the same element of `{array}`: neither this nor the contrary was proved",
        "use subscripts a*{index} + c with the same integer a, or copy what is read before the loop; if you "
        "know that they never meet (`dlbc witness` tests this on a run), add `assume_independent`",
        {
            "frame": "take the column out before the loop (`values = {column}.to_numpy(copy=True)`), store "
            "`values[{index}] = ...` in the body, and put it back after the loop (`{column} = values`)",
            "scratch": "make it in each iteration: move {made} into the body; or add the clause "
            "`private({array})`",
            **_IN_DICTIONARIES,
        },
    ),
    "DLB303": CatalogueEntry(
        E,
        "iterations {index}={first} and {index}={second} both store to {element}, so the iterations are not "
        "independent (proved)",
        "give each iteration an element of its own, subscripted by {index}; make scratch space in the body, "
        "or name it in `private(...)`",
        {
            "frame": "take the column out before the loop (`values = {column}.to_numpy(copy=True)`), store "
            "`values[{index}] = ...` in the body, and put it back after the loop (`{column} = values`)",
            "element": "update a name in the body: read `{element}` into it before the loop, and store it "
            "there after the loop",
            "environment": "set the environment before the loop: all iterations share one",
            **_IN_DICTIONARIES,
        },
    ),
    "DLB304": CatalogueEntry(
        E,
        "iterations may store to the same elements of `{array}` (neither this nor the contrary was proved): "
        "expected one axis that every store subscripts by a*{index} + c, after axes that are surely integers",
        "subscript one axis by {index} in every store, write int(...) around other subscripts before it and "
        "`:` for `...`, and assign an array found under a key to a name before the loop; a dictionary stored "
        "to by key (`d[key] = e`) must be one that the body does not read",
        {
            "frame": "take the column out before the loop (`values = {column}.to_numpy(copy=True)`), store "
            "`values[{index}] = ...` in the body, and put it back after the loop (`{column} = values`)",
            "element": "update a name in the body: read `{element}` into it before the loop, and store it "
            "there after the loop",
            "environment": "set the environment before the loop: all iterations share one",
            "field": "name the field before the row in every place: `{array}[{field}][{row}]`",
            **_IN_DICTIONARIES,
        },
    ),
    "DLB305": CatalogueEntry(
        E,
        "several iterations may update the same elements of `{array}`: expected that the body updates them "
        "by one operator and uses `{array}` in no other way",
        "update it only by one operator (+ - * & | ^ max min) and read it after the loop",
    ),
    "DLB306": CatalogueEntry(
        E,
        "the loop stores into `{array}` and also uses it as a whole, so an iteration may see what another "
        "one stores: neither this nor the contrary was proved",
        "copy it before the loop, or subscript it by the loop's variable; make scratch space in the body, or "
        "name it in `private`; count by key with `d[key] = d.get(key, 0) + e` and nothing else",
        {
            "frame": "take the column out before the loop (`values = {column}.to_numpy(copy=True)`), store "
            "`values[{index}] = ...` in the body, and put it back after the loop (`{column} = values`)",
            "scratch": "make it in each iteration: move {made} into the body; or add the clause "
            "`private({array})`",
            "group": "write `{call}` where the item is used, without the test, so that the body only adds to "
            "`{array}`",
            "cache": "iterations cannot share what `{array}` remembers: fill it before the loop, or compute "
            "the value in each iteration",
            "computed_key": "compute the key on a line of its own: `key = {key}`, and then `{stored}`",
            "counted": "leave out the test, and write `{array}[{key}] = {array}.get({key}, {first}) "
            "{operation}`",
            "grouped": "leave out the test, and write `{array}.setdefault({key}, []).append({value})`",
            "argument": "pass the function the row of this iteration, `{array}[{index}]`, or a copy",
            "items": "before the loop, take what iterations read out of the items (`read = [(item.x, item.y) "
            "for item in {array}]`), and run through that",
            "whole": "where all of `{array}` is used, use a copy or a value from before the loop (`old = "
            "{array}.copy()`)",
            **_IN_DICTIONARIES,
        },
    ),
    "DLB307": CatalogueEntry(
        E,
        "the loop stores into `{array}`, but none of its variables counts the iterations",
        "loop over `range(...)` or `enumerate(...)`, and subscript by that variable",
        {
            "frame": "take the column out before the loop (`values = {column}.to_numpy(copy=True)`), store "
            "`values[{index}] = ...` in the body, and put it back after the loop (`{column} = values`)",
            "element": "update a name in the body: read `{element}` into it before the loop, and store it "
            "there after the loop",
            "environment": "set the environment before the loop: all iterations share one",
            "asserted": "loop over `enumerate(...)`: what iterations store to is noted by their numbers",
            "keyed": "if `{array}` is a dictionary, store into a new one, which the body does not read "
            "(`new[{key}] = ...`), and call `{array}.update(new)` after the loop; if it is an array, loop "
            "over `range(...)` or `enumerate(...)`, and subscript by that variable",
            **_IN_DICTIONARIES,
        },
    ),
    "DLB309": CatalogueEntry(
        E,
        "this may change an object in place, and it was neither proved nor ruled out that other iterations "
        "use the object too",
        "write `x = x + e` instead of `x += e`, work on a `.copy()`, or store into an array by index",
    ),
    "DLB310": CatalogueEntry(
        E,
        "`{name}` may be read before this iteration has bound it: it carries a value over from an earlier "
        "iteration, or from before the loop",
        "bind `{name}` on every path before it is read, or compute it from the loop's variable; collect a "
        "growing list by `items.append(e)` and assemble it after the loop",
        {
            "not run": "give `{name}` a value before the inner loop, which may not run at all",
            "previous": "compute the value of the iteration before from the loop's variable, in place of "
            "`{name}` (it was `{value}`); the first iteration may need a case of its own",
            "grows": "collect the parts by `parts.append(e)`, and join them after the loop",
            "reduction": "write `{written}`, which is a reduction, and use `{name}` only after the loop",
            "recurrence": "each iteration needs the value of `{name}` that the one before it has computed: "
            "leave this loop sequential, and annotate a loop inside or around it",
        },
    ),
    "DLB311": CatalogueEntry(
        E,
        "`{name}` is updated from its value in the iteration before, in a form that dlbc cannot reduce over "
        "iterations",
        "write `{name} += e` (or - * & | ^), `{name} = max({name}, e)` (or min), or `{name} = {name} and e` "
        "(or or), with an `e` that calls no function; or store each iteration's part in an array by index",
        {
            "recurrence": "each iteration needs the value of `{name}` that the one before it has computed: "
            "leave this loop sequential, and annotate a loop inside or around it",
        },
    ),
    "DLB312": CatalogueEntry(
        E,
        "the clause `reduction` names `{name}`, but the body does not update it in a form that dlbc can "
        "reduce over iterations",
        "update a name from before the loop (`s += e`, `s = max(s, e)`, `hist[k] += e`) and use it in no "
        "other way, or remove the clause",
    ),
    "DLB313": CatalogueEntry(
        E,
        "function `{function}` reads `{name}`, which the body binds; on another rank it would not see that "
        "value",
        "pass `{name}` to the function as an argument",
    ),
    "DLB314": CatalogueEntry(
        E,
        "a function or generator made in the body uses the body's names and is stored beyond the iteration",
        "bind the values that it needs as default arguments, or store the values instead",
    ),
    "DLB315": CatalogueEntry(
        E,
        "`{function}` may be part of `{name}`, which iterations share, and this may change it in place",
        "write `{function} = {function} + e`, which makes a new object",
        {
            "operator": "write `{name} = {name} {operator} {value}`, which makes a new object, and gives the "
            "same number where `{name}` is one; if what it is part of is to change, store to that by the "
            "loop's variable",
        },
    ),
    "DLB316": CatalogueEntry(
        E,
        "the loop runs over `{array}` and stores into it",
        "loop over `range(len({array}))`, and subscript by that variable",
        {
            "dictionary": "store into a new dictionary (`new[key] = ...`), and call `{array}.update(new)` "
            "after the loop",
        },
    ),
    "DLB320": CatalogueEntry(
        E,
        "the clause says axis={axis}, but the subscripts of `{array}` distribute it along axis {found}",
        "remove `axis`, or write axis={found}",
    ),
    "DLB321": CatalogueEntry(
        E,
        "`{array}` cannot be distributed by {distribution}: expected {index} as the subscript of one axis in "
        "every access",
        "name it in `WHOLE(...)`, which gives every rank the whole array",
    ),
    "DLB323": CatalogueEntry(
        E,
        "the loop stores into `{array}`, but its body binds the loop's variable `{name}` again",
        "give the other variable a name of its own, and subscript by the loop's variable",
    ),
    "DLB324": CatalogueEntry(
        E,
        "`{name}` is accumulated over the iterations and also used in the body, so an iteration depends on "
        "the ones before it",
        "use `{name}` only after the loop, compute it from the loop's variable, collect what it counts by "
        "`items.append(e)`, or leave this loop sequential",
        {
            "filled": "each iteration fills `{name}` first: add the clause `private({name})`, so that each "
            "has its own, or make it in the body",
        },
    ),
    "DLB325": CatalogueEntry(
        E,
        "`{name}` is updated by `{one}` and by `{other}`, which cannot be combined in one reduction",
        "update it by one operator, or use a separate name for each",
    ),
    "DLB326": CatalogueEntry(
        E,
        "`{name}` looks like the best value so far, but dlbc cannot prove that each iteration offers one "
        "value and that nothing else depends on `{name}`",
        "write `if v > {name}: {name}, where = v, i`, `if {name} is None or v > {name}: ...` or `if v > "
        "{name}[0]: {name} = (v, i)`, and use these only after the loop. Make `v` and whatever else is bound "
        "before the `if`, which calls nothing and has no other branch; of objects, which have other names, "
        "compare an attribute at the end of the body, or `v = x.cost` as above",
    ),
    "DLB327": CatalogueEntry(
        E,
        "expected a class for every variable of the loop (loop, distributed, broadcast, reduction, ordered "
        "container, private, last value), found none for `{name}`",
        "please report this, with the file",
    ),
    "DLB328": CatalogueEntry(
        E,
        "the body updates `{name}` where it catches exceptions that the update may raise, but updates are "
        "applied only after the iterations have run",
        "compute the value in the `try`, and update `{name}` in its `else` or after it",
        {"item": "write `{name}.setdefault(key, []).append(value)`, which needs no `try`"},
    ),
}
