#!/usr/bin/env python3
"""Measures the power of the vectors: changes the Python reader in many ways, one at a time, and runs the vectors on each
mutant. Prints the mutants that survive; those that behave like the reader are in `equivalent.py`.

    corpus/conformance/mutants/mutate.py [--list] [--jobs N] [--every N]

The exit status is 0 if every other mutant fails a vector."""

import argparse
import ast
import collections
import copy
import multiprocessing
import pathlib
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "runners"))

import conformance
from equivalent import EQUIVALENT

READER = HERE.parent / "runners" / "reader.py"
# Not the reading of sections: the protocol, and messages.
LEFT_OUT = {"serve"}
# Seconds after which a mutant hangs.
PATIENCE = 300

COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
OPPOSITE = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr}
SWAPPED = {"sp": "fp", "fp": "sp", "fixed_ra": "fixed_fp", "fixed_fp": "fixed_ra", "ra": "fp"}


def of_number(node):
    for value in (node.value + 1, node.value - 1):
        yield "off by one", ast.Constant(value)


def of_operation(node):
    if isinstance(node.op, ast.BitAnd):
        yield "missing mask", node.left
    if isinstance(node.op, (ast.RShift, ast.LShift)):
        yield "swapped bits", node.left
    if isinstance(node.op, (ast.Mult, ast.Mod)):
        yield "missing scaling", node.left
    if isinstance(node.op, ast.Mod):
        yield "wrong base", ast.BinOp(node.left, ast.FloorDiv(), node.right)
    if type(node.op) in OPPOSITE:
        kind = "wrong sign" if isinstance(node.op, (ast.Add, ast.Sub)) else "swapped bits"
        yield kind, ast.BinOp(node.left, OPPOSITE[type(node.op)](), node.right)
    if isinstance(node.op, (ast.Add, ast.Sub)):
        yield "wrong base", node.left
        yield "wrong base", node.right


def of_comparison(node):
    kind = type(node.ops[0])
    if kind in COMPARISONS:
        yield "off by one", ast.Compare(node.left, [COMPARISONS[kind]()], node.comparators)
    if kind in (ast.In, ast.NotIn):
        yield "wrong condition", ast.UnaryOp(ast.Not(), node)


def of_attribute(node):
    if node.attr == "order":
        choice = "'little' if {} == 'big' else 'big'".format(ast.unparse(node))
        yield "wrong byte order", ast.parse(choice, mode="eval").body
    elif node.attr in SWAPPED:
        yield "wrong base", ast.Attribute(node.value, SWAPPED[node.attr], node.ctx)


def of_constant(node):
    if node.value is True or node.value is False:
        yield "wrong sign", ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield from of_number(node)
    elif node.value in ("little", "big"):
        yield "wrong byte order", ast.Constant({"little": "big", "big": "little"}[node.value])


def of_call(node):
    if isinstance(node.func, ast.Attribute) and node.func.attr == "pop" and node.args:
        yield "wrong order", ast.Call(node.func, [], [])


def of_condition(node):
    kind = type(node)
    yield "wrong condition", kind(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)


def of_statement(node):
    yield "missing check", ast.Pass()


def of_boolean(node):
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "wrong condition", ast.BoolOp(other, node.values)
    for index in range(len(node.values)):
        rest = node.values[:index] + node.values[index + 1 :]
        yield "missing check", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


OPERATORS = {
    ast.Constant: of_constant,
    ast.BinOp: of_operation,
    ast.Compare: of_comparison,
    ast.Attribute: of_attribute,
    ast.Call: of_call,
    ast.If: of_condition,
    ast.IfExp: of_condition,
    ast.Raise: of_statement,
    ast.BoolOp: of_boolean,
}


class Mutant:
    """A change of one node."""

    def __init__(self, kind, where, line, before, after, tree):
        self.kind, self.where, self.line, self.before, self.after, self.tree = kind, where, line, before, after, tree

    @property
    def key(self):
        return f"{self.where}: {self.before} -> {self.after}"


def places(tree):
    """Each node with the path to it, and the name of its function."""
    def visit(node, path, where):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            where = where + [node.name]
        yield node, path, where
        for name, value in ast.iter_fields(node):
            if name in ("ctx", "decorator_list", "targets") or (isinstance(node, ast.Raise) and name == "exc"):
                continue
            if isinstance(value, ast.AST):
                yield from visit(value, path + [(name, None)], where)
            elif isinstance(value, list):
                for index, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        yield from visit(item, path + [(name, index)], where)
    yield from visit(tree, [], [])


def replaced(tree, path, new):
    """A copy of the tree with another node at a path."""
    tree = copy.deepcopy(tree)
    node = tree
    for name, index in path[:-1]:
        node = getattr(node, name) if index is None else getattr(node, name)[index]
    name, index = path[-1]
    if index is None:
        setattr(node, name, new)
    else:
        getattr(node, name)[index] = new
    return ast.fix_missing_locations(tree)


def is_left_out(where, path):
    is_last = not where and path and path[0][1] == LAST
    return is_last or bool(LEFT_OUT & set(where)) or where in (["Reader", "__init__"], ["Reader", "answer"])


def mutants():
    global LAST
    tree = ast.parse(READER.read_text())
    # The call of `serve`.
    LAST = len(tree.body) - 1
    found, keys = [], collections.Counter()
    for node, path, where in places(tree):
        operator = OPERATORS.get(type(node))
        if operator is None or is_left_out(where, path):
            continue
        for kind, new in operator(node):
            name = ".".join(where) or "constants"
            before, after = ast.unparse(node).split("\n")[0], ast.unparse(new).split("\n")[0]
            mutant = Mutant(kind, name, node.lineno, before, after, replaced(tree, path, new))
            keys[mutant.key] += 1
            if keys[mutant.key] > 1:
                # The same change at another place of the function.
                mutant.where += f" #{keys[mutant.key]}"
            found.append(mutant)
    return found


def stop(_signal, _frame):
    raise conformance.Gone("hangs")


def killer(tree, vectors):
    """The first vector that a mutant fails; None if there is none."""
    space = {"__name__": "mutant"}
    try:
        exec(compile(tree, "mutant", "exec"), space)
        reader = space["Reader"]()
    except Exception:
        return "start"

    def ask(request):
        try:
            return reader.answer(request)
        except conformance.Gone:
            raise
        except Exception as error:
            raise conformance.Gone(f"crashed: {error!r}") from error

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(PATIENCE)
    try:
        for vector in vectors:
            if conformance.run(vector, ask).wrong:
                return vector["name"]
    except conformance.Gone:
        return "hangs"
    except Exception:
        return "not an answer"
    finally:
        signal.alarm(0)
    return None


VECTORS = []


def judge(index):
    return index, killer(ALL[index].tree, VECTORS)


def main():
    global ALL, VECTORS
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--list", action="store_true", help="list every mutant")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--every", type=int, default=1, help="only every Nth mutant")
    arguments = parser.parse_args()
    VECTORS = conformance.load(conformance.VECTORS)
    # Many die in the first vectors of a clause, so that one of each clause comes first.
    VECTORS.sort(key=lambda vector: (vector["name"].split("/")[2][:3], vector["name"]))
    ALL = mutants()
    with multiprocessing.get_context("fork").Pool(arguments.jobs) as pool:
        results = dict(pool.imap_unordered(judge, range(0, len(ALL), arguments.every), chunksize=4))
    sys.exit(report(results, arguments.list))


def report(results, is_complete):
    kinds, wrong, used = collections.defaultdict(collections.Counter), 0, set()
    judged = [(ALL[index], vector) for index, vector in sorted(results.items())]
    for mutant, vector in judged:
        reason = EQUIVALENT.get(mutant.key)
        if vector:
            verdict = "killed"
        elif reason:
            verdict = "equivalent"
            used.add(mutant.key)
        else:
            verdict, wrong = "survived", wrong + 1
        kinds[mutant.kind][verdict] += 1
        if is_complete or verdict == "survived":
            print(f"{verdict}: line {mutant.line}, {mutant.kind}: {mutant.key}" + (f" [{vector}]" if vector else ""))
    for key in sorted(EQUIVALENT.keys() & {mutant.key for mutant, vector in judged} - used):
        print(f"not a survivor: {key}")
        wrong += 1
    for key in sorted(EQUIVALENT.keys() - {mutant.key for mutant in ALL}):
        print(f"not a mutant: {key}")
        wrong += 1
    print("| Change | Mutants | Killed | Equivalent | Survived |\n|---|---|---|---|---|")
    for kind, counts in sorted(kinds.items()) + [("all", sum(kinds.values(), collections.Counter()))]:
        print(f"| {kind} | {sum(counts.values())} | {counts['killed']} | {counts['equivalent']} | {counts['survived']} |")
    return 1 if wrong else 0


if __name__ == "__main__":
    main()
