# %% [markdown]
# # An ε for your own run
#
# From the parameters of a training run to a certified (ε, δ), and back to the noise a target needs. Every ε below is
# rounded up: it is never less than what the theorem used gives.
#
# Hidden-state bounds have a price: they hold for smooth, strongly convex losses with a bounded step size, and only if the
# last iterate alone is published. The accountant checks what can be checked, states what it assumes, and falls back to
# composition where no hidden-state statement applies.

# %%
from decimal import ROUND_CEILING, Context

from IPython.display import Image

from hsdp_symbolic import Setting
from hsdp_symbolic.accounting import (
    HiddenStateAccountant,
    Part,
    calibrate,
    compare,
    delta,
    epsilon,
    epsilon_of_all,
    logistic,
    training_run,
)
from hsdp_symbolic.accounting.regression import logistic_privacy
from hsdp_symbolic.examples.logistic import BINARY, MULTICLASS, demonstrate
from hsdp_symbolic.meaning import Released
from hsdp_symbolic.plots.bounds_over_epochs import draw_bounds


def up(value):
    """A number to four digits, rounded up."""
    return str(Context(prec=4, rounding=ROUND_CEILING).create_decimal(value))


# %% [markdown]
# ## ε
#
# In the paper's letters: n records, batches of b, K epochs, step size η, a λ-strongly convex and β-smooth loss,
# noise σ, gradients that differ by at most S_g when one record is replaced. The data are shuffled once.

# %%
run = Setting(n=50, b=2, K=40, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
found = epsilon(run, delta="1e-5", scheme="shuffle")
print(
    f"ε = {up(found.epsilon)} at δ = {found.delta:g}, by {found.bound}; hidden state: {found.hidden_state}"
)

# %% [markdown]
# All statements that hold for the run were tried: profiles, which give (ε, δ) directly, and Rényi divergences, each at its
# best order. What became of them:

# %%
for entry in (each for each in found.considered if each.value is not None):
    print(f"{entry.label:24} {up(entry.value):>7}  {entry.verdict}")

# %% [markdown]
# What must be true for the number to hold. Hypotheses in the letters are checked, with the distance to where they would
# fail; what a program cannot check is listed as an assumption, and is yours to answer for:

# %%
for each in found.hypotheses:
    if each.hypothesis != "alpha > 1":  # the order is chosen, not given
        print(
            f"{each.hypothesis:24} {each.left:5} against {each.right:5}; margin {each.margin:.4g}"
        )
print()
for assumption in found.assumptions:
    print("assumes:", assumption)

# %% [markdown]
# The other way round, δ at a given ε:

# %%
other_way = delta(run, epsilon="0.5", scheme="shuffle")
print(f"δ = {up(other_way.delta)} at ε = {other_way.epsilon}")

# %% [markdown]
# How batches are made matters. `reshuffle` is what most data loaders do: a new order in every epoch. Batches drawn anew at
# every step cost least, because nobody knows which of them held a record:

# %%
for scheme in ("fixed", "shuffle", "reshuffle", "without_replacement"):
    each = epsilon(run, delta="1e-5", scheme=scheme)
    print(f"{scheme:20} ε = {up(each.epsilon)}  {each.bound}")

# %% [markdown]
# ## In a library's words
#
# DP-SGD libraries speak of a noise multiplier, a clip norm and a sample rate, and they clip every record's gradient. A
# clipped loss need not pull two runs together, so say which loss it is, and which weight decay is added after clipping:

# %%
known = {
    "n": 1344,
    "batch_size": 64,
    "learning_rate": "0.5",
    "max_grad_norm": 1,
    "weight_decay": "0.01",
    "loss": logistic(feature_norm=1),
}
library = training_run(noise_multiplier=8, epochs=15, **known)
print(library.setting)
clipped = epsilon(library, delta="1e-5", scheme="shuffle")
print(f"ε = {up(clipped.epsilon)}: {clipped.update}")

# %% [markdown]
# For a neural network nothing of the kind is known. Then only composition holds, and the answer says so:

# %%
network = training_run(noise_multiplier="1.1", sample_rate="0.01", steps=1000)
composed = epsilon(network, delta="1e-5", scheme="poisson")
print(f"ε = {up(composed.epsilon)}, {composed.neighbouring}\n{composed.note}")

# %% [markdown]
# As an object that counts steps, for a training loop:

# %%
accountant = HiddenStateAccountant(scheme="shuffle", **known)
for _ in range(15 * 21):
    accountant.step(noise_multiplier=8, sample_rate=1 / 21)
print(f"ε = {up(accountant.get_epsilon(delta=1e-5))}")

# %% [markdown]
# ## Calibration
#
# The smallest noise that meets a target. It never misses: the guarantee at the value returned is certified.

# %%
target = {"target_epsilon": "0.25", "delta": "1e-5", "scheme": "shuffle"}
noise = calibrate(run.replace(sigma=None), solve_for="sigma", **target)
print(
    f"σ = {up(float(noise.value))} gives ε = {up(noise.guarantee.epsilon)} by {noise.guarantee.bound}"
)

# %% [markdown]
# The largest number of epochs. Here hidden state shows: there may be none.

# %%
target["target_epsilon"] = "0.6"
longest = calibrate(run.replace(K=None), solve_for="K", **target)
print("every K meets it" if longest.every else f"K = {longest.value}")

# %% [markdown]
# Composition over the same batches, with the same noise and the same target, lasts two epochs:


# %%
def hidden(statement):
    """A reason to refuse every statement that needs a hidden state."""
    return "" if statement.released is Released.EVERY else "needs a hidden state"


for epochs in (1, 2, 3):
    each = epsilon(run.replace(K=epochs), delta="1e-5", scheme="shuffle", refuse=hidden)
    print(f"K = {epochs}: ε = {up(each.epsilon)} by {each.bound}")

# %% [markdown]
# ## Comparison
#
# Every applicable bound over the number of epochs:

# %%
table = compare(run, delta="1e-5", scheme="shuffle", epochs=(1, 2, 5, 10, 20, 40, 100))
print(f"{'K':24}" + "".join(f"{epochs:9}" for epochs in table.epochs))
for label, values in table.curves:
    print(
        f"{label:24}"
        + "".join(f"{'-' if value is None else up(value):>9}" for value in values)
    )

# %%
Image(draw_bounds(table, "png"), width=560)

# %% [markdown]
# A hidden state is not the only way to gain. If batches are sampled independently (Poisson), composition gains from the
# sampling, without any assumption on the loss; but it keeps growing. With a loss that contracts, both help at once. These
# numbers are about a record added or removed, where those above are about one replaced, which is the stronger promise. The same
# noise, with gradients clipped to norm 2:

# %%
sampled = {
    "noise_multiplier": 20,
    "max_grad_norm": 2,
    "n": 50,
    "batch_size": 2,
    "learning_rate": "0.02",
    "weight_decay": 1,
}
for epochs in (10, 40, 100, 400):
    each = training_run(**sampled, epochs=epochs, loss=logistic(feature_norm=1))
    found_by = [
        epsilon(each, delta="1e-5", scheme="poisson", refuse=refuse)
        for refuse in (hidden, None)
    ]
    print(
        f"K = {epochs:3}: "
        + ", ".join(f"ε = {up(one.epsilon)} by {one.bound}" for one in found_by)
    )

# %% [markdown]
# Several runs on the same data, each publishing its last iterate, add up in the Rényi sense, which is less than adding
# their ε:

# %%
total = epsilon_of_all([Part(run, "shuffle", count=3)], delta="1e-5")
print(f"three runs: ε = {up(total.epsilon)}, not {up(3 * found.epsilon)}")

# %% [markdown]
# ## Logistic regression
#
# Here the constants are known: features are clipped to norm L, each record's gradient to norm C, and the regulariser
# (λ/2)‖θ‖² is strongly convex. `demonstrate` makes data, trains with noise and without, and accounts.


# %%
def report(trained):
    privacy = trained.privacy
    print(privacy.case)
    print(
        f"  accuracy {trained.accuracy:.2f}; without noise {trained.not_private:.2f}; by chance {trained.chance:.2f}"
    )
    print(f"  gradients clipped {trained.clipped:.0%}")
    print(
        f"  ε = {up(privacy.guarantee.epsilon)}, hidden state ({privacy.guarantee.bound})"
    )
    print(
        f"  ε = {up(privacy.composition.epsilon)}, composition ({privacy.composition.bound})"
    )


print(", ".join(f"{name} = {value}" for name, value in BINARY.items()))
binary = demonstrate(**BINARY, runs=3, seed=0)
report(binary)

# %% [markdown]
# Where each constant comes from:

# %%
for source in binary.privacy.sources:
    print(
        f"{source.name:14} {float(source.value):<10.4g} {source.comes_from}: {source.says}"
    )

# %% [markdown]
# With three or more classes the paper's proposition on clipping fails (notebook 3). What is proved in its place still
# gives a guarantee, if the regulariser is strong enough for the clip norm:

# %%
report(demonstrate(**MULTICLASS, runs=3, seed=0))

# %% [markdown]
# Where none is proved, a Lipschitz constant above 1 is, and bounds for updates that expand use it; batches drawn afresh have
# none of these, so that composition is left, with the reason and what would help:

# %%
weak = MULTICLASS | {"clip_norm": 1, "lam": "0.01", "delta": "1e-5"}
for scheme in ("shuffle", "without_replacement"):
    found = logistic_privacy(**weak, scheme=scheme).guarantee
    print(f"{scheme}: ε = {up(found.epsilon)}, {found.update}")
print(f"{found.note}\n{found.helps}")

# %% [markdown]
# On the command line: `hsdp epsilon`, `hsdp delta`, `hsdp calibrate`, `hsdp compare`, `hsdp logistic --demo`.
