"""Rules about derivatives, integrals and limits."""

from sympy import Add

from hsdp_symbolic.proof.propositions import Less
from hsdp_symbolic.symbols import elsewhere

from .derivatives import Line, derive
from .equality import equal
from .facts import ranges_of
from .numbers import equality
from .trees import XI, Tree, call, name_of, number, proof_of_sign, tree_of, variable
from .using import Work, conversion, instance, put_xi, trees_in


def work_out(work: Work) -> None:
    inputs = work.inputs()
    left, right = trees_in(work.node.proposition)
    work.say(equality(work, left, right, inputs["nonzero"], ()))


def under_integral(work: Work) -> None:
    (premise,) = work.node.premises
    left, _ = trees_in(work.node.proposition)
    (one,) = left.args
    word = name_of(one.leaf)
    over = "(over everywhere)" if left.leaf == "everywhere" else "(over2 coordinatewise)"
    intro = "apply functional_extensionality; intro i_c; " if one.op == "lam2" else ""
    work.say(
        f"apply (f_equal {over}); {intro}apply functional_extensionality; intro {word}; exact {instance(work, premise)}"
    )


def linear(work: Work) -> None:
    integral = work.inputs()["integral"]
    left, right = trees_in(work.node.proposition)
    (whole_,) = left.args
    word = "everywhere" if left.leaf == "everywhere" else "coordinatewise"
    two = "2" if word == "coordinatewise" else ""
    binder = f"(i_c : coordinate) ({name_of(whole_.leaf)} : point)" if two else f"{name_of(whole_.leaf)} : point"
    pairs = []
    for term in Add.make_args(integral.integrand):
        constant, rest = term.as_independent(integral.variable, as_Add=False)
        pairs.append((tree_of(constant), tree_of(rest)))
    scaled = [Tree("mul", pair) for pair in pairs]
    body = scaled[-1]
    rewrites: list[str] = []
    for each in reversed(scaled[:-1]):
        rewrites.insert(0, f"rewrite (over{two}_plus {word} (fun {binder} => {each}) (fun {binder} => {body}))")
        body = Tree("add", (each, body))
    rewrites += [f"rewrite (over{two}_scale {word} {c} (fun {binder} => {rest}))" for c, rest in pairs]
    written_ = Tree(whole_.op, (body,), whole_.leaf)
    parts = [Tree("mul", (c, call(word, Tree(whole_.op, (rest,), whole_.leaf)))) for c, rest in pairs]
    total = parts[-1]
    for each in reversed(parts[:-1]):
        total = Tree("add", (each, total))
    over = f"(over{two} {word})"
    first = equal(whole_, written_, work.known)
    work.say(f"transitivity ({word} {written_}); [apply (f_equal {over}); {first}|]")
    work.say(f"transitivity {total}; [{'; '.join([*rewrites, 'reflexivity'])} | {equal(total, right, work.known)}]")


def rises(work: Work) -> None:
    inputs = work.inputs()
    expr, symbol, slope, by = (inputs[key] for key in ("expr", "symbol", "slope", "by"))
    there = elsewhere(symbol)
    body = tree_of(expr, {symbol: variable(XI)})
    line = Line(variable(there), False, work.known)
    f, word = line.function(body), name_of(there)
    ranges = "; ".join(f"assert ({name} : {said}) by lra" for name, said in ranges_of(there))
    intro = f"intros {word} further; {ranges}"
    _, proof = derive(body, line)
    sub = Work(work.node, work.names, work.binders, [], list(work.given), list(work.extra), work.used)
    sub.bound = frozenset([there])
    put = {symbol: there}
    steep = instance(sub, slope, put, (), {symbol: variable(there)})
    sign = proof_of_sign(variable(by), work.known)
    nn = "ltac:(lra)" if sign is None else f"(Rlt_le _ _ {sign[1]})" if sign[0] else sign[1]
    start = variable(symbol)
    work.say(
        f"assert (P : {put_xi(body, start)} <= {put_xi(body, Tree('add', (start, variable(by))))}) by "
        f"(refine (rises {f} {start} {by} {nn} _ _); "
        f"[{intro}; exact (ex_from {f} {word} _ {proof}) | {intro}; exact {steep}])"
    )
    pairs = list(
        zip(
            (put_xi(body, start), put_xi(body, Tree("add", (start, variable(by))))),
            trees_in(work.node.proposition),
            strict=True,
        )
    )
    work.say(conversion(work, pairs, "P"))


def at_zero(work: Work) -> None:
    inputs = work.inputs()
    theorem, symbol = inputs["theorem"], inputs["symbol"]
    said = theorem.proposition
    body = tree_of(said.right, {symbol: variable(XI)})
    line = Line(number(0), False, work.known)
    f, word = line.function(body), name_of(symbol)
    _, proof = derive(body, line)
    sub = Work(work.node, work.names, work.binders, [], list(work.given), list(work.extra), work.used)
    sub.bound = frozenset([symbol])
    found = instance(sub, theorem)
    found = f"(Rlt_le _ _ {found})" if isinstance(said, Less) else found
    left, end = tree_of(said.left), put_xi(body, number(0))
    work.say(
        f"assert (P : {left} <= {end}) by (refine (at_zero {f} {left} (ex_from {f} 0 _ {proof}) _); "
        f"intros {word} {word}_pos; exact {found})"
    )
    work.say(conversion(work, list(zip((left, end), trees_in(work.node.proposition), strict=True)), "P"))
