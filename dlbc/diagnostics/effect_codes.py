"""Effects and calls: filled by the passes."""

from __future__ import annotations

from dlbc.diagnostics.diagnostic import CatalogueEntry, E, R

EFFECTS: dict[str, CatalogueEntry] = {
    "DLB402": CatalogueEntry(
        E,
        "`{function}` writes to files, or changes other things outside the program, in whatever order the "
        "ranks come to it",
        "store the results by index, and write them after the loop; where the order does not matter (a file "
        "for each iteration), say so by `assume_independent`",
    ),
    "DLB403": CatalogueEntry(
        E,
        "`{function}` reads standard input in the body; only rank 0 has it",
        "read before the loop",
    ),
    "DLB404": CatalogueEntry(
        E,
        "`{function}` draws from one generator that all iterations share, so the numbers depend on the order",
        "make one generator per iteration: `seeds = np.random.SeedSequence(s).spawn(n)` before the loop, "
        "`rng = np.random.default_rng(seeds[i])` in it",
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
        "`{function}` adds to `{name}` in the order of the iterations, which can be kept only where the "
        "body adds to a plain name and uses it in no other way",
        "do nothing with it in the body but `items.append(e)`, and read it after the loop; take an attribute "
        "to a name before the loop (`items = self.items`); collect what belongs under keys as pairs "
        "(`pairs.append((key, e))`), and group them after the loop",
    ),
    "DLB407": CatalogueEntry(
        E,
        "`{function}` changes `{name}`, which all iterations share",
        "work on a copy made in the body, or store into an array by index",
    ),
    "DLB408": CatalogueEntry(
        E,
        "the body stores the attribute `{function}` of an object of `{name}`, which exists outside the "
        "iteration",
        "take its value to a name before the loop, update that (`total += e`) or store into an array by "
        "index, and set the attribute after the loop",
    ),
    "DLB409": CatalogueEntry(
        E,
        "function `{function}`, which the body may call, changes `{name}`, which all iterations share",
        "give the value back from the function, and store it by index",
    ),
    "DLB410": CatalogueEntry(
        E,
        "`{function}` may change this argument, which is (part of) `{name}` and shared by all iterations",
        "pass the row of the iteration, or a copy",
    ),
    "DLB412": CatalogueEntry(
        R,
        "`{function}` is not seen here and is taken to change nothing that iterations share",
        "write the function in this file, where it is looked at; `--strict` refuses it",
    ),
    "DLB413": CatalogueEntry(
        E,
        "function `{function}`, which the body may call, reads `{array}`, which the loop stores into",
        "pass what it needs as an argument",
    ),
    "DLB414": CatalogueEntry(
        E,
        "`del` removes part of `{name}`, which exists outside the iteration",
        "collect what to remove by index, and remove it after the loop",
    ),
    "DLB416": CatalogueEntry(
        E,
        "the body stores into `{name}`, which belongs to a module, a class or a function",
        "take the array to a name of its own before the loop",
    ),
    "DLB417": CatalogueEntry(
        E,
        "`{name}` is an iterator: each iteration would take its items from where another one stopped",
        "read it out under another name before the loop (`items = list({name})`), and take `items[i]` or "
        "loop over it; compute what counts on from the loop's variable",
    ),
    "DLB418": CatalogueEntry(
        E,
        "`{function}` may be any function that this program hands about, also `{word}`, which changes what "
        "iterations share",
        "call the function by its own name, or hand on one that gives its result back",
    ),
    "DLB419": CatalogueEntry(
        E,
        "this may run `{function}`, which changes an object that iterations may share",
        "let it give its result back, or call it by its name with the row of the iteration",
    ),
    "DLB420": CatalogueEntry(
        E,
        "`{name}` is a defaultdict: reading a key that it lacks adds it, which all iterations share",
        "make a plain dictionary of it before the loop, or read it with `.get(key)`; collect what belongs "
        "under keys as pairs (`pairs.append((key, e))`), and group them after the loop",
    ),
    "DLB421": CatalogueEntry(
        E,
        "`{name}` is deleted in the body and may be read after the loop",
        "leave out the `del`, or give `{name}` a value after the loop",
    ),
    "DLB422": CatalogueEntry(
        E,
        "`{function}` changes an object of another module, which all iterations share",
        "do it before or after the loop",
    ),
    # What `--strict` refuses.
    "DLB423": CatalogueEntry(
        E,
        "`{function}` is not seen here, and `--strict` takes of no function on trust that it changes nothing",
        "write the function in this file, call it before the loop, or leave out `--strict`",
    ),
    "DLB424": CatalogueEntry(
        E,
        "`{clause}` says of `{array}` what was not proved, and `--strict` takes no word for it",
        "subscript an array so that it can be seen, make scratch space in the body, write files after the "
        "loop, or leave out `--strict`",
    ),
}
