"""DLB4xx: side effects and calls, reported by the passes."""

from __future__ import annotations

from dlbc.diagnostics.diagnostic import CatalogueEntry, E, R

EFFECTS: dict[str, CatalogueEntry] = {
    "DLB402": CatalogueEntry(
        E,
        "`{function}` writes to files or changes other things outside the program; the ranks would do this "
        "in no fixed order",
        "store the results by index and write them after the loop; if the order does not matter (one file "
        "per iteration), add `assume_independent`",
        {
            "stream": "write into a text in memory (`text = io.StringIO()` before the loop), which dlbc "
            "keeps in iteration order, in place of `{text}`; write it out after the loop: "
            "`{stream}.write(text.getvalue())`",
            "own": "if each iteration has a file of its own (`{path}`), add `assume_independent`; otherwise "
            "store the results by index and write them after the loop",
            "rows": "collect the rows, which keep the order of iterations (`rows.append({row})`), and write "
            "them after the loop: `{writer}.writerows(rows)`",
            "process": "all iterations share what `{function}` changes: call it before or after the loop",
            "started": "if the processes that it starts do not get in each other's way (each has files of "
            "its own), add `assume_independent`; otherwise start them before or after the loop",
        },
    ),
    "DLB403": CatalogueEntry(
        E, "`{function}` reads standard input in the body, but only rank 0 has it", "read it before the loop"
    ),
    "DLB404": CatalogueEntry(
        E,
        "`{function}` draws from one generator that all iterations share, so the numbers depend on the order",
        "make one generator per iteration: `seeds = np.random.SeedSequence(s).spawn(n)` before the loop, "
        "`rng = np.random.default_rng(seeds[i])` in it",
        {
            "random": "make a generator in each iteration, `rng = random.Random(s + i)` where `i` is its "
            "number and `s` any number, and draw from it; or begin the body by `random.seed(s + i)`",
            "numpy.random": "make one generator per iteration: `seeds = np.random.SeedSequence(s).spawn(n)` "
            "before the loop, `rng = np.random.default_rng(seeds[i])` in it; or begin the body by "
            "`np.random.seed(s + i)`",
        },
    ),
    "DLB405": CatalogueEntry(
        E,
        "`{function}` draws from the generator `{name}`, which all iterations share, so the numbers depend "
        "on the order",
        "make one generator per iteration: `seeds = np.random.SeedSequence(s).spawn(n)` before the loop, "
        "`rng = np.random.default_rng(seeds[i])` in it",
    ),
    "DLB406": CatalogueEntry(
        E,
        "`{function}` adds to `{name}` in the order of the iterations; dlbc keeps that order only if the "
        "body adds to `{name}` and uses it in no other way",
        "only add to `{name}` in the body, and read it after the loop; compute from the loop's variable what "
        "an iteration needs of it",
    ),
    "DLB407": CatalogueEntry(
        E,
        "`{function}` changes `{name}`, which all iterations share",
        "work on a copy made in the body, or store into an array by index",
        {
            "taken": "take the item by index, which changes nothing (`{name}[i]`), or loop over `{name}`",
            "removed": "collect in a list what is to go, `gone.append({item})`, and take it out of `{name}` "
            "after the loop",
            "sorted": "sort before the loop, or sort a copy in the body: `sorted({name})`",
        },
    ),
    "DLB408": CatalogueEntry(
        E,
        "the body sets the attribute `{function}` on an object of `{name}`, which exists outside the "
        "iteration",
        "only set the attribute, or only update it by one operator (`{name}.{function} += e`), and read it "
        "after the loop; where it is a property, do so with a name and set the attribute after the loop",
    ),
    "DLB409": CatalogueEntry(
        E,
        "function `{function}`, which the body may call, changes `{name}`, which all iterations share",
        "return the value from the function and store it by index",
        {
            "rebinds": "let `{function}` return what it adds, and add it in the body: `{name} += ...`",
            "cache": "fill `{name}` before the loop, or write `@functools.lru_cache` above the function in "
            "its place: each rank then has a cache of its own",
            "writes": "write in the body: `{function}` writes where its cache does not hold the result yet, "
            "and each rank has a cache of its own",
        },
    ),
    "DLB410": CatalogueEntry(
        E,
        "`{function}` may change this argument, which is `{name}` or a part of it and shared by all "
        "iterations",
        "pass only the row of this iteration, or a copy",
        {
            "method": "let `{method}` return what it computes and leave `{name}` alone; add the results up "
            "in the body (`total += ...`) or store them by index, and set the attribute after the loop",
            "in_order": "collect in the body, `found.append({item})`, and sort after the loop: "
            "`{name}.extend(found)`, `{name}.sort()`",
            "packed": "pack into a list in the body, `pieces[{index}] = struct.pack(...)`, and join after "
            "the loop: `{name}[:] = b''.join(pieces)`",
            "out": "give each iteration a row of its own: `out={array}[{index}]`",
            "sliced": "of an array `{slice}` is a view, not a copy: write `list({name})`, or `{name}.copy()` "
            "if it is an array",
            "argument": "pass the row of this iteration, `{name}[{index}]`, or let the function return what "
            "it computes, and store or add that in the body",
        },
    ),
    "DLB412": CatalogueEntry(
        R,
        "dlbc does not see what `{function}` does; it assumes that this changes nothing which iterations "
        "share, and has that checked while the loop runs",
        "define the function in this file, under a name that nothing else in it has, to have it proved; "
        "`--strict` refuses such calls",
        {
            "records": "nothing to do for a logger of Python's: rank 0 handles its records, in the order of "
            "the iterations; `--trust` leaves the look out",
            "installed": "nothing to do if that is so; `--follow {package}` has the package read, so that "
            "its functions are seen, and `--trust` leaves the look out",
            "method": "nothing to do if that is so, and `--trust` leaves the look out; methods of classes "
            "that are defined in this file are seen",
            "object": "nothing to do if that is so, and `--trust` leaves the look out; functions and classes "
            "that are defined in this file are seen",
        },
    ),
    "DLB413": CatalogueEntry(
        E,
        "function `{function}`, which the body may call, reads `{array}`, which the loop stores into",
        "if iterations are to read what was there before the loop, let the function read a copy that is made "
        "before it; if an iteration reads nothing but its own elements, pass them as arguments",
    ),
    "DLB414": CatalogueEntry(
        E,
        "`del` removes part of `{name}`, which exists outside the iteration",
        "collect the indices to remove, and remove them after the loop",
    ),
    "DLB416": CatalogueEntry(
        E,
        "the body stores into `{name}`, which belongs to a module, a class or a function",
        "assign the array to a name of its own before the loop",
    ),
    "DLB417": CatalogueEntry(
        E,
        "`{name}` is an iterator: each iteration would continue where another one stopped",
        "read it into a list before the loop (`items = list({name})`) and use `items[i]`, or loop over the "
        "list; compute a running count from the loop's variable",
        {
            "count": "the loop counts already: compute what `next({name})` gives from `{index}`",
        },
    ),
    "DLB418": CatalogueEntry(
        E,
        "`{function}` may be any function that this program passes as a value, including `{word}`, which "
        "changes something that iterations share",
        "call the function by its own name, or pass a function that returns its result",
    ),
    "DLB419": CatalogueEntry(
        E,
        "this may run `{function}`, which changes an object that iterations may share",
        "let the function return its result, or call it by name with the row of this iteration",
    ),
    "DLB420": CatalogueEntry(
        E,
        "`{name}` is a defaultdict: reading a missing key adds that key, and all iterations share `{name}`",
        "convert it to a plain dictionary before the loop, or read it with `.get(key)`; to group values by "
        "key, append pairs (`pairs.append((key, e))`) and group them after the loop",
        {"nested": "use one dictionary whose keys have both parts: `{name}[{first}, {second}]`"},
    ),
    "DLB421": CatalogueEntry(
        E,
        "`{name}` is deleted in the body and may be read after the loop",
        "remove the `del`, or assign `{name}` after the loop",
    ),
    "DLB422": CatalogueEntry(
        E,
        "`{function}` changes an object of another module, which all iterations share",
        "make this change before or after the loop",
    ),
    # What `--strict` refuses.
    "DLB423": CatalogueEntry(
        E,
        "dlbc does not see what `{function}` does, and `--strict` does not assume that such functions change "
        "nothing",
        "define the function in this file, call it before the loop, or run without `--strict`",
    ),
    "DLB424": CatalogueEntry(
        E,
        "`{clause}` asserts something about `{array}` that was not proved, and `--strict` accepts only "
        "proofs",
        "use subscripts that dlbc can analyze, make scratch space in the body, write files after the loop, "
        "or run without `--strict`",
    ),
    "DLB425": CatalogueEntry(
        E,
        "`{function}` changes the heap `{name}`, which all iterations share and which it reads to do so",
        "collect in the body what is to go into the heap (`items.append(e)`), and after the loop do with "
        "each of them what the body does with `{name}`, under its conditions: `for e in items: ...`",
    ),
    # What a clause takes away.
    "DLB426": CatalogueEntry(
        E,
        "`private({name})` leaves `{name}` worthless after the loop, where it may be read",
        "leave `{name}` out of the clause: it then ends as the last iteration leaves it",
    ),
    "DLB427": CatalogueEntry(
        E,
        "between two iterations {clash}; a parallel loop has all its items before the first iteration",
        "if the program works with all items made first, make them so: `items = list({iterable})` before the "
        "loop, which then runs over `items`",
    ),
    "DLB428": CatalogueEntry(
        E,
        "`{call}` is another number on each rank, so it means nothing outside the iteration",
        "use what the object is called in the program, or the number of the iteration that has it",
    ),
}
