"""Bugs to plant in the product, one at a time; `tests/mutants.py` shows that the default tier catches each.

A bug is one piece of a code line, which occurs exactly once in its file, replaced by another. The pieces are
what an algorithm rests on, not prose, so that rewording leaves them standing.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PLANTED_BUGS", "PlantedBug"]


@dataclass(frozen=True, slots=True)
class PlantedBug:
    """``new`` in place of ``old`` in a file of the product; ``likeliest`` are paths below `tests`."""

    name: str
    file: str
    old: str
    new: str
    likeliest: tuple[str, ...] = ()

    @property
    def room(self) -> str:
        """The package and the room of the file: ``dlbrt/balance``."""
        return self.file.removeprefix("runtime/").rpartition("/")[0]

    def planted(self, text: str) -> str:
        """The file's text with the bug; ValueError unless the old piece occurs exactly once."""
        if (count := text.count(self.old)) != 1:
            raise ValueError(
                f"{self.name}: expected {self.old!r} once in {self.file}, found it {count} times"
            )
        return text.replace(self.old, self.new)


def _bug(name: str, file: str, old: str, new: str, *likeliest: str) -> PlantedBug:
    where = f"runtime/{file}" if file.startswith("dlbrt/") else file
    return PlantedBug(name, where, old, new, likeliest)


# fmt: off
PLANTED_BUGS = (
    # The compiler.
    _bug("an annotation takes in a comment of another indentation", "dlbc/parse/comments.py",
         "b.line == a.line + 1 and b.column == a.column",
         "b.line == a.line + 1", "dlbc/test_parse.py"),
    _bug("a diagnostic's column off by one", "dlbc/parse/comments.py",
         "return SourcePlace(token.start[0], token.start[1] + 1,",
         "return SourcePlace(token.start[0], token.start[1],", "dlbc/test_parse.py"),
    _bug("the last iteration is left out of dependences", "dlbc/analysis/dependence_problem.py",
         "yield Comparison.below(value, stop) if step > 0",
         "yield Comparison.below(value + IntegerForm.literal(1), stop) if step > 0",
         "proofs/test_mutations.py"),
    _bug("an alias on one side of a choice is missed", "dlbc/analysis/evaluate_expressions.py",
         "return value | self._value(other)",
         "return self._value(other)", "dlbc/passes/test_find_aliases.py"),
    _bug("a dependence test ignores distance 1", "dlbc/passes/prove_independence.py",
         "return distance == 0 or distance %",
         "return distance in (0, 1) or distance %", "proofs/test_mutations.py"),
    _bug("a guard of the proof is dropped", "dlbc/passes/prove_independence.py",
         "axis, what, guards=(guard,))",
         "axis, what)", "dlbc/passes/test_find_facts.py"),
    _bug("a view of a view is shifted once", "dlbc/passes/find_accesses.py",
         "None if shift is None or base[1] is None else shift + base[1]",
         "None if shift is None or base[1] is None else base[1]", "dlbc/passes/test_find_aliases.py"),
    _bug("a name bound on one branch counts as bound", "dlbc/passes/classify_scalars.py",
         "return left & right",
         "return left | right", "dlbc/passes/test_classify_scalars.py"),
    _bug("what functions see after a loop counts as dead", "dlbc/passes/compute_liveness.py",
         "live = _after(loop) | _captured(loop, outside) |",
         "live = _after(loop) |", "proofs/test_flow.py", "dlbc/passes/test_plan_loops.py"),
    _bug("a row that is read first counts as overwritten", "dlbc/passes/infer_distribution.py",
         "return all(a.direct and not a.in_place and a.node in below for a in others)",
         "return True", "dlbc/passes/test_plan_loops.py", "dlbc/test_golden.py"),
    _bug("a reduction goes by its first operator", "dlbc/passes/find_reductions.py",
         "operator = max(u.operator for u in updates)",
         "operator = first.operator", "dlbc/passes/test_find_reductions.py"),
    _bug("a cost that the loop changes is evaluated before it", "dlbc/passes/choose_cost.py",
         "sorted(work.elements & stored)",
         "sorted(work.elements & frozenset())", "dlbc/passes/test_choose_cost.py"),
    _bug("a fold is taken where the index does not cancel", "dlbc/algebra/iteration_cost.py",
         "if max(powers, default=0) > 0:",
         "if max(powers, default=0) > 2:",
         "dlbc/passes/test_fold_bitonic.py", "dlbc/passes/test_infer_cost.py"),
    _bug("a trip count is rounded down", "dlbc/algebra/sums.py",
         "rounded_up = stop - start + step - _FIRST",
         "rounded_up = stop - start", "dlbc/algebra/test_work.py"),
    _bug("Faulhaber's polynomial with a wrong binomial", "dlbc/algebra/sums.py",
         "total[exponent] -= comb(power + 1, lower) * factor",
         "total[exponent] -= comb(power, lower) * factor", "dlbc/algebra/test_work.py"),
    _bug("the cost of a turn off by one operation", "dlbc/cost/count_code.py",
         "body = self.block(node.body) + UNIT_COST",
         "body = self.block(node.body)", "dlbc/passes/test_infer_cost.py"),
    _bug("the out= of a reduction one argument late", "dlbc/library/arrays.py",
         '"all amax amin any argmax argmin max min ptp", result=_NEW, out_at=2',
         '"all amax amin any argmax argmin max min ptp", result=_NEW, out_at=3',
         "dlbc/library/test_table.py"),
    _bug("a write by out= is not marked in a routine", "dlbc/routines/mod_ref_calls.py",
         'yield from (k.value for k in call.keywords if k.arg == "out")',
         "yield from ()", "dlbc/passes/test_plan_routines.py"),
    _bug("an augmented assignment in a routine only stores", "dlbc/routines/mod_ref_statements.py",
         "walk.update(target)",
         "walk.store(target)", "dlbc/passes/test_plan_routines.py"),
    _bug("the line map goes on over a gap in the source", "dlbc/emit/track_lines.py",
         "if start and (line - previous[0] != 1 or origin - previous[1] != 1):",
         "if start and line - previous[0] != 1:", "dlbc/test_emit.py"),
    # Policy: what is balanced, dealt, predicted.
    _bug("an interrupt of a late epoch is taken", "dlbrt/balance/member.py",
         "if event.epoch != self.epoch or self._window.profile_sent or self._over:",
         "if self._window.profile_sent or self._over:", "dlbrt/balance/test_balancer.py"),
    _bug("lower ranks are not interrupted", "dlbrt/balance/member.py",
         "members[:place] + members[place + 1 :]",
         "members[place + 1 :]", "dlbrt/balance/test_balancer.py"),
    _bug("a failing iteration stays in the work", "dlbrt/balance/member.py",
         "self.units.wanted(window.work, self._own_failure)",
         "self.units.wanted(window.work, self._own_failure + 1)", "dlbrt/balance/test_balancer.py"),
    _bug("the highest failure wins", "dlbrt/balance/group_state.py",
         "self.failed_at = min(profile.failed_at for profile in profiles)",
         "self.failed_at = max(profile.failed_at for profile in profiles)",
         "dlbrt/balance/test_balancer.py"),
    _bug("a decision leaves out an iteration under way", "dlbrt/balance/decision.py",
         "costs_s = exchange_s + unit / max(speeds) + busiest",
         "costs_s = exchange_s + busiest",
         "dlbrt/balance/test_balancer.py", "dlbrt/balance/test_standing.py"),
    _bug("a chunk takes the place of what is left", "dlbrt/balance/pooled.py",
         "self.work = self.work.then(units)",
         "self.work = units", "dlbrt/balance/test_conformance.py"),
    _bug("a thief's victim keeps what it gave", "dlbrt/balance/stealing.py",
         "self.work = self.work.first(len(self.work) - len(given))[0]",
         "self.work = self.work.first(len(self.work) - len(given) + 1)[0]",
         "dlbrt/balance/test_baselines.py"),
    _bug("a chunk is dealt twice", "dlbrt/chunks/rule.py",
         "start = self._starts[run] + (k - self._firsts[run]) * size",
         "start = self._starts[run] + max(0, k - self._firsts[run] - 1) * size",
         "dlbrt/chunks/test_sequences.py"),
    _bug("a batch begins one chunk early", "dlbrt/chunks/rules.py",
         "return self._size(pool.chunks // self.loop.ranks)",
         "return self._size((pool.chunks + 1) // self.loop.ranks)", "dlbrt/chunks/test_conformance.py"),
    _bug("a rule ignores weights", "dlbrt/chunks/rules.py",
         "return nearest(self.weights[rank] * batch.chunk)",
         "return nearest(batch.chunk)", "dlbrt/chunks/test_conformance.py"),
    _bug("a link forgets its remainder", "dlbrt/diffusion/uneven.py",
         "return whole, LinkRemainder(owed - whole)",
         "return whole, LinkRemainder(units - whole)", "dlbrt/diffusion/test_uneven.py"),
    _bug("a flux by the faster end", "dlbrt/diffusion/uneven.py",
         "return alpha * min(speed, other_speed) *",
         "return alpha * max(speed, other_speed) *", "dlbrt/diffusion/test_uneven.py"),
    _bug("a Newton step outside its bracket", "dlbrt/partition/roots.py",
         "newton = (self.low < following) & (following < self.high)",
         "newton = np.isfinite(following)", "dlbrt/partition/test_newton.py"),
    _bug("first shares ignore weights", "dlbrt/partition/initial.py",
         "work.cut(weights or [1.0] * ranks, first)",
         "work.cut([1.0] * ranks, first)", "dlbrt/partition/test_initial.py"),
    _bug("a speed rises beyond its peak", "dlbrt/speed/functions.py",
         "return np.where(there & (columns >= peak), falling, shaped)",
         "return shaped", "dlbrt/speed/test_piecewise.py"),
    _bug("C_g without the delay", "dlbrt/predict/recurrence.py",
         "self.instructions_s + self.movement_s + self.delay_s",
         "self.instructions_s + self.movement_s", "dlbrt/predict/test_recurrence.py"),
    # Rows, reductions, what is observed.
    _bug("a share off by one", "dlbrt/data/layout.py",
         "heapreplace(queue, ((shares[rank] + 1) / rates[rank], rank))",
         "heapreplace(queue, (shares[rank] / rates[rank], rank))", "dlbrt/data/test_layout.py"),
    _bug("a halo row off by one", "dlbrt/data/footprint.py",
         "(-base, length - 1 - base) if slope > 0",
         "(-base, length - 2 - base) if slope > 0", "dlbrt/data/test_footprint.py"),
    _bug("a cut drops an iteration", "dlbrt/data/spans.py",
         "return rest if high == maxsize else rest._upto(high - low)",
         "return rest if high == maxsize else rest._upto(high - low - 1)", "dlbrt/data/test_spans.py"),
    _bug("what is reserved is given away", "dlbrt/data/transfer.py",
         "low = max(kept[giver], work_table.count(spans, reached))",
         "low = work_table.count(spans, reached)", "dlbrt/data/test_transfer.py"),
    _bug("folding loses the middle of an odd n", "dlbrt/data/work_table.py",
         "return (positions + 1) // 2 if self.folded",
         "return positions // 2 if self.folded", "dlbrt/data/test_units.py"),
    _bug("a twin misses -0.0", "dlbrt/data/twin.py",
         "return np.flatnonzero((ours != theirs).any(axis=1))",
         "ours, theirs = (x.view(\"f8\") if unit == 8 else x for x in (ours, theirs))\n"
         "    return np.flatnonzero((ours != theirs).any(axis=1))", "dlbrt/data/test_twin.py"),
    _bug("a row that is needed is evicted", "dlbrt/data/directory.py",
         "surplus = difference(self._valid[rank], kept[rank])",
         "surplus = self._valid[rank]", "dlbrt/data/test_holdings.py"),
    _bug("the inspector misses a conflict within a stretch", "dlbrt/data/hazard.py",
         "(owners[first] != touched.positions[some]) | (changes[first] != changes[last])",
         "(owners[first] != touched.positions[some])", "dlbrt/data/test_conflicts.py"),
    _bug("memory at another address modulo 64", "dlbrt/data/memory.py",
         "shift = (layout.phase - memory.ctypes.data) % _ALIGNMENT",
         "shift = -memory.ctypes.data % _ALIGNMENT", "dlbrt/data/test_memory.py"),
    _bug("a reduction out of order", "dlbrt/reductions/replay.py",
         'order = np.argsort(positions, kind="stable")',
         "order = np.arange(len(positions))", "dlbrt/reductions/test_journal.py"),
    _bug("a journal is cut one iteration early", "dlbrt/reductions/journal.py",
         'self.part(0, int(np.searchsorted(self.positions, position, "right")))',
         'self.part(0, int(np.searchsorted(self.positions, position, "left")))',
         "dlbrt/reductions/test_journal.py"),
    _bug("a container's element is updated twice", "dlbrt/reductions/replay.py",
         "real[entry[1]] = apply(real[entry[1]], entry[2])",
         "real[entry[1]] = apply(apply(real[entry[1]], entry[2]), entry[2])",
         "dlbrt/reductions/test_any_split.py"),
    _bug("a tie goes to the first of equals", "dlbrt/reductions/replay.py",
         '"<=": operator.le',
         '"<=": operator.lt', "dlbrt/reductions/test_any_split.py"),
    _bug("bytes overtake text on standard output", "dlbrt/reductions/replay.py",
         "stream.flush()\n",
         "\n", "dlbrt/reductions/test_output.py"),
    _bug("a trace loses an entry", "dlbrt/observe/recorder.py",
         "if kept or actions:",
         "if kept and actions:", "dlbrt/observe/test_recorder.py"),
    _bug("a kept file that is not ours is overwritten", "dlbrt/observe/files.py",
         'raise RefusedError("which is JSON of something else")',
         'return {"format": expected, "version": version, "loops": [], "networks": []}',
         "dlbrt/observe/test_learned.py", "dlbrt/observe/test_networks.py"),
    # The two drivers.
    _bug("the last iteration of a chunk is dropped", "dlbrt/mpi/walk.py",
         "items, self._counter = self._space.items(part)",
         "items, self._counter = self._space.items(part[:-1] or part)",
         "dlbrt/mpi/test_walk.py", "mpi/test_exactly_once.py"),
    _bug("the position of a failure off by one", "dlbrt/mpi/walk.py",
         "done = len(self._part) - operator.length_hint(self._counter) - 1",
         "done = max(0, len(self._part) - operator.length_hint(self._counter) - 2)",
         "dlbrt/mpi/test_walk.py", "mpi/test_programs.py"),
    _bug("a message that has come is lost", "dlbrt/mpi/mover.py",
         "for field, rows, packed in self._landed:",
         "for field, rows, packed in self._landed[1:]:", "mpi/test_programs.py"),
    _bug("a temporary's value is not the last one's", "dlbrt/mpi/loop.py",
         "or entry[0] > new.values[name][0]:",
         "or entry[0] < new.values[name][0]:", "dlbrt/mpi/test_temporaries.py"),
    _bug("the note on an exception lacks the rank", "dlbrt/mpi/failure.py",
         "of the loop at {place}, on rank {failure.rank} of {ranks}",
         "of the loop at {place}", "dlbrt/mpi/test_note.py", "dlbrt/mpi/test_failure.py"),
    _bug("a conflict with rank 0 is not seen", "dlbrt/mpi/run_journal.py",
         "claims.add(0, twin.diff())",
         "pass", "mpi/test_footprints.py"),
    _bug("workers keep rows that rank 0 has stored to", "dlbrt/mpi/routines/resident_arrays.py",
         "resident.directory.stored_by(0, rows)",
         "pass", "mpi/test_iterate.py"),
    _bug("a note of another run of the loop is taken", "dlbrt/mpi/messenger.py",
         "note is None or note.serial != self._serial",
         "note is None", "dlbrt/mpi/test_post.py"),
    _bug("a kernel counts as sent where a global is 1 for True", "dlbrt/mpi/values/packing.py",
         "yield type(value)\n",
         "\n", "dlbrt/mpi/test_kernels.py"),
    _bug("a link takes two messages at once", "dlbrt/sim/action_executor.py",
         "begin = max(now, self._sends_from[rank], self._takes_from[target])",
         "begin = max(now, self._sends_from[rank])", "dlbrt/sim/test_links.py"),
    _bug("the counter gives a chunk to two ranks", "dlbrt/sim/action_executor.py",
         "number=self._counter, count=action.count",
         "number=max(0, self._counter - 1), count=action.count", "dlbrt/sim/test_driver.py"),
)
# fmt: on
