#!/usr/bin/env python3
"""The protocol of shards/decide.c, tried in all orders of its steps. Usage: protocol.py

Writers with one item each, as machines of the steps that Redis does at once: a script, or a look at
one shard. All states that they can reach are visited: of items that are near each other one is new,
and nobody waits for ever. Without a challenge, or where one that came too late is not heeded, that
has to fail: else this test shows nothing."""

import collections
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TOP / "house")]

import tap

# An item: (id, pending, challenges). A writer: (step, id, data). Each has a shard of its own.
Id = collections.namedtuple("Id", "number writer")
NEW, DUPLICATE, DEAD = "new", "duplicate", "dead"
ENDS = (NEW, DUPLICATE, DEAD)


class Model:
    """`near`: pairs of writers. `repeats`, `deaths`, `leases`, `backwards`: how many answers are
    lost, writers die, living ones lose a pending item, and numbers are given again."""

    def __init__(self, writers, near, names=None, without=(), **faults):
        self.writers = writers
        self.near = {frozenset(pair) for pair in near}
        self.names = names or list(range(writers))
        self.without = without
        self.faults = tuple(
            faults.get(name, 0) for name in ("repeats", "deaths", "leases", "backwards")
        )

    def first(self):
        return 0, (), (("number", None, ()),) * self.writers, self.faults

    def neighbours(self, writer):
        return tuple(
            other for other in range(self.writers) if frozenset((writer, other)) in self.near
        )

    # ---- steps ----

    def next(self, state):
        """All states that may follow."""
        _, _, writers, faults = state
        for writer, (step, own, data) in enumerate(writers):
            if step in ENDS:
                continue
            for counter, items, after, spent in getattr(self, step)(state, writer, own, data):
                left = faults[:2] + (faults[2] - spent,) + faults[3:]
                yield self.move(counter, items, writers, writer, after, left)
                if faults[0] and step in ("write", "challenge", "confirm", "take_back", "end"):
                    left = (left[0] - 1,) + left[1:]  # the answer is lost, and it is sent again
                    yield self.move(counter, items, writers, writer, (step, own, data), left)
            if faults[1]:
                left = (faults[0], faults[1] - 1) + faults[2:]
                yield self.move(state[0], state[1], writers, writer, (DEAD, own, ()), left)
        if faults[3] and state[0] > 0:
            yield state[0] - 1, state[1], writers, faults[:3] + (faults[3] - 1,)

    def move(self, counter, items, writers, writer, after, faults):
        if isinstance(items, dict):
            items = tuple(sorted((own, *rest) for own, rest in items.items()))
        changed = writers[:writer] + (after,) + writers[writer + 1 :]
        return compress(counter, items, changed, faults)

    def number(self, state, writer, own, data):
        yield state[0] + 1, state[1], ("write", Id(state[0] + 1, writer), ()), 0

    def write(self, state, writer, own, data):
        items = by_id(state)
        for other, (pending, _) in items.items():
            if self.names[other[1]] != self.names[writer] or other == own:
                continue
            if not pending:
                yield state[0], state[1], (DUPLICATE, own, ()), 0
                return
            yield state[0], state[1], ("number", None, ()), 0
            yield from self.take_away(state, other, ("number", None, ()))
            return
        if own not in items:
            items[own] = (True, frozenset())
        yield state[0], items, self.begin_search(writer, own), 0

    def begin_search(self, writer, own):
        return "search", own, (self.neighbours(writer), ())

    def search(self, state, writer, own, data):
        shards, found = data
        here = tuple(item[0] for item in state[1] if item[0][1] in shards[:1])
        found = tuple(sorted(found + here))
        after = ("search", own, (shards[1:], found)) if shards[1:] else ("fetch", own, (found, ()))
        yield state[0], state[1], after, 0

    def fetch(self, state, writer, own, data):
        asked, seen = data
        items = by_id(state)
        if not asked:
            yield from self.judge(state, writer, own, seen)
            return
        there = tuple((one, items[one][0]) for one in asked[:1] if one in items)
        yield state[0], state[1], ("fetch", own, (asked[1:], seen + there)), 0

    def judge(self, state, writer, own, seen):
        older = [one for one, pending in seen if pending and one < own]
        younger = tuple(one for one, pending in seen if pending and one > own)
        confirmed = any(not pending for _, pending in seen)
        if "challenge" in self.without:
            younger = ()
        after = ("challenge", own, (younger, bool(older), confirmed))
        if not younger:
            after = self.after_looking(writer, own, bool(older), confirmed)
        yield state[0], state[1], after, 0
        for one in older:
            yield from self.take_away(state, one, after)

    def after_looking(self, writer, own, waits, confirmed):
        if waits:
            return self.begin_search(writer, own)
        return ("take_back" if confirmed else "confirm"), own, ()

    def take_away(self, state, one, after):
        """What waited too long for another takes it away."""
        dead = state[2][one[1]][0] == DEAD
        if not dead and not state[3][2]:
            return
        items = by_id(state)
        if items.get(one, (False,))[0]:
            del items[one]
        yield state[0], items, after, 0 if dead else 1

    def challenge(self, state, writer, own, data):
        younger, waits, confirmed = data
        items = by_id(state)
        one, rest = younger[0], younger[1:]
        if one in items:
            pending, challenges = items[one]
            if pending:
                items[one] = (True, challenges | {own})
            elif "heed" not in self.without:
                waits = True
        after = ("challenge", own, (rest, waits, confirmed))
        if not rest:
            after = self.after_looking(writer, own, waits, confirmed)
        yield state[0], items, after, 0

    def confirm(self, state, writer, own, data):
        items = by_id(state)
        if own not in items:
            yield state[0], state[1], ("number", None, ()), 0
            return
        pending, challenges = items[own]
        if pending and challenges:
            yield state[0], state[1], ("end", own, tuple(sorted(challenges))), 0
            return
        items[own] = (False, frozenset())
        yield state[0], items, (NEW, own, ()), 0

    def end(self, state, writer, own, data):
        """Challenges of those that are decided end."""
        items = by_id(state)
        one, rest = data[0], data[1:]
        after = ("end", own, rest) if rest else self.begin_search(writer, own)
        if items.get(one, (False,))[0]:
            yield state[0], state[1], after, 0
            yield from self.take_away(state, one, after)
            return
        if own in items:
            items[own] = (items[own][0], items[own][1] - {one})
        yield state[0], items, after, 0

    def take_back(self, state, writer, own, data):
        items = by_id(state)
        if items.get(own, (False,))[0]:
            del items[own]
        yield state[0], items, (DUPLICATE, own, ()), 0

    # ---- all orders ----

    def wrong(self, state):
        """What is wrong where all have ended."""
        _, items, writers, _ = state
        there = {item[0][1] for item in items if not item[1]}
        for pair in self.near:
            if pair <= there:
                return f"near copies are both there: {sorted(pair)}"
        for writer, (step, own, _) in enumerate(writers):
            if step == NEW and (own, False, frozenset()) not in items:
                return f"writer {writer} is new, and is not there"
            same = {other for other in there if self.names[other] == self.names[writer]}
            if step == DUPLICATE and not there & set(self.neighbours(writer)) and not same:
                return f"writer {writer} is a duplicate of nothing"
        return None

    def run(self):
        """What is wrong in any order, or None; and how many states there are."""
        first = self.first()
        before, todo, ends = {first: set()}, [first], []
        while todo:
            state = todo.pop()
            if all(writer[0] in ENDS for writer in state[2]):
                ends.append(state)
                wrong = self.wrong(state)
                if wrong:
                    return wrong, len(before)
            for after in self.next(state):
                if after not in before:
                    before[after] = set()
                    todo.append(after)
                before[after].add(state)
        good, todo = set(ends), list(ends)
        while todo:
            for state in before[todo.pop()] - good:
                good.add(state)
                todo.append(state)
        return ("they wait for ever" if len(good) < len(before) else None), len(before)


def by_id(state):
    return {item[0]: (item[1], item[2]) for item in state[1]}


def compress(counter, items, writers, faults):
    """The same with the smallest numbers in the same order: so states are finitely many."""
    numbers = {0, counter}

    def note(value):
        if isinstance(value, Id):
            numbers.add(value[0])
        elif isinstance(value, (tuple, frozenset)):
            for one in value:
                note(one)

    note(items)
    note(writers)
    places = {number: place for place, number in enumerate(sorted(numbers))}

    def change(value):
        if isinstance(value, Id):
            return Id(places[value[0]], value[1])
        if isinstance(value, tuple):
            return tuple(map(change, value))
        if isinstance(value, frozenset):
            return frozenset(map(change, value))
        return value

    return places[counter], change(items), change(writers), faults


PAIR, ALL, CHAIN = [(0, 1)], [(0, 1), (0, 2), (1, 2)], [(0, 1), (1, 2)]


def check(*arguments, **options):
    wrong, states = Model(*arguments, **options).run()
    assert wrong is None, wrong
    print(f"# {states} states")


def check_fails(*arguments, **options):
    wrong, _ = Model(*arguments, **options).run()
    assert wrong is not None, "the model shows nothing"


def test_two_near_copies():
    check(2, PAIR)


def test_three_near_copies():
    check(3, ALL)


def test_three_of_which_two_are_near_one():
    for first, second, third in ((0, 1, 2), (1, 0, 2), (0, 2, 1)):
        check(3, [(first, second), (second, third)])


def test_without_a_challenge_both_are_new():
    check_fails(2, PAIR, without=["challenge"])


def test_where_it_is_not_heeded_that_a_younger_one_was_first_both_are_new():
    check_fails(2, PAIR, without=["heed"])


def test_lost_answers():
    check(2, PAIR, repeats=2)


def test_dead_writers():
    check(2, PAIR, deaths=1)
    check(3, CHAIN, deaths=1)


def test_pending_items_taken_away_from_the_living():
    check(2, PAIR, leases=2)


def test_numbers_given_again():
    check(2, PAIR, backwards=2, repeats=1)


def test_one_external_id():
    check(2, [], names=["a", "a"], repeats=1, deaths=1, leases=1)
    check(3, [(0, 1)], names=["a", "b", "a"])


def test_all_at_once():
    check(2, PAIR, repeats=1, deaths=1, leases=1, backwards=1)


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
