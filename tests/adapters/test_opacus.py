"""`HiddenStateEngine` against the real Opacus: what it sees of a run, what that costs, and what it refuses.

Installed by `.ci/opacus`; elsewhere these tests are skipped.
"""

import math
import warnings
from fractions import Fraction

import pytest

from hsdp_symbolic.accounting import epsilon, huber, logistic, softmax, squared, training_run, vouched
from hsdp_symbolic.errors import ArgumentError
from tests import skips

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what torch and Opacus warn of on import is not ours
    torch = skips.module("torch", missing="opacus")
    skips.module("opacus", missing="opacus")
    datasets = skips.module("sklearn.datasets", missing="opacus")
    from opacus.accountants import RDPAccountant
    from opacus.utils.batch_memory_manager import BatchMemoryManager
    from torch import nn
    from torch.utils.data import DataLoader, IterableDataset, RandomSampler, SubsetRandomSampler, TensorDataset

    from hsdp_symbolic.adapters.opacus import HiddenStateEngine

pytestmark = [
    pytest.mark.filterwarnings("ignore:Secure RNG turned off:UserWarning"),
    pytest.mark.filterwarnings("ignore:Full backward hook is firing:UserWarning"),  # inputs need no gradient
]

LOGISTIC = logistic(feature_norm=1)
Z, CLIP, RATE, DECAY = 4.0, 1.0, 0.1, 0.5


@pytest.fixture(autouse=True)
def _seeded():
    torch.set_num_threads(1)
    torch.manual_seed(1)


def digits(n=1344, classes=2):
    """scikit-learn's digits, every image scaled to norm 1; two classes are below five and from five on."""
    images, labels = datasets.load_digits(return_X_y=True)
    inputs = torch.tensor(images[:n], dtype=torch.float32)
    targets = torch.tensor(labels[:n])
    inputs = inputs / inputs.norm(dim=1, keepdim=True)
    return TensorDataset(inputs, (targets >= 5).float() if classes == 2 else targets)


class Run:
    """A model made private, and a loop to train it."""

    def __init__(
        self, *, n=1344, b=64, classes=2, loss=LOGISTIC, scheme=None, model=None, optimizer=None, criterion=None,
        loader=None, data=None, momentum=0.0, decay=DECAY, rate=RATE, **options,
    ):  # fmt: skip
        data = data or digits(n, classes)
        self.model = model or nn.Linear(64, 1 if classes == 2 else classes)
        make = optimizer or (lambda p: torch.optim.SGD(p, lr=rate, weight_decay=decay, momentum=momentum))
        self.engine = HiddenStateEngine(loss=loss, scheme=scheme)
        self.criterion = criterion or (nn.BCEWithLogitsLoss() if classes == 2 else nn.CrossEntropyLoss())
        self.classes = classes
        if not isinstance(loader, DataLoader):
            loader = DataLoader(data, batch_size=b, **({"shuffle": True} | (loader or {})))
        given = {"noise_multiplier": Z, "max_grad_norm": CLIP, "poisson_sampling": False} | options
        self.given = loader
        self.model, self.optimizer, self.loader = self.engine.make_private(
            module=self.model, optimizer=make(self.model.parameters()), data_loader=loader, **given
        )

    def backward(self, x, y):
        scores = self.model(x)
        self.criterion(scores[:, 0] if self.classes == 2 else scores, y).backward()

    def step(self, x, y):
        self.backward(x, y)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def epochs(self, count=1, *, loader=None, stop=None, between=None):
        for _ in range(count):
            for number, (x, y) in enumerate(self.loader if loader is None else loader):
                if number == stop:
                    break
                self.step(x, y)
                if between is not None:
                    between(self)
        return self

    def found(self):
        return self.engine.guarantee(1e-5)


def plain(scheme="reshuffle", **changes):
    """The certificate of the same constants, typed by hand."""
    facts = {
        "noise_multiplier": Z, "max_grad_norm": CLIP, "n": 1344, "batch_size": 64, "epochs": 3, "learning_rate": RATE,
        "weight_decay": DECAY, "loss": LOGISTIC,
    }  # fmt: skip
    return epsilon(training_run(**(facts | changes)), delta=1e-5, scheme=scheme)


def composition(passes=3, scheme="reshuffle"):
    return epsilon(training_run(noise_multiplier=Z, n=1344, batch_size=64, epochs=passes), delta=1e-5, scheme=scheme)


class TestDigits:
    """Binary logistic regression, weight decay outside the clip, a loader that reshuffles: and its variants."""

    def test_a_certificate_with_no_constant_typed_twice(self):
        run = Run().epochs(3)
        found = run.found()
        assert found.hidden_state
        assert found.scheme == "reshuffle"
        assert found.epsilon == pytest.approx(plain().epsilon, rel=1e-9)
        assert found.epsilon < composition().epsilon
        assert run.engine.get_epsilon(1e-5) == found.epsilon
        assert any("φ(x·θ)" in said for said in found.assumed_by_you)
        assert run.loader is run.given  # Opacus' own answer, untouched

    def test_what_was_seen(self):
        seen = Run().epochs(2).engine.observed()
        assert (seen.n, seen.batch_sizes, seen.divisors, seen.accumulation) == (1344, (64,), (64,), (1,))
        assert (seen.steps, seen.passes, seen.whole_passes, seen.orders) == (42, 2, 2, 2)
        assert (seen.optimiser, seen.learning_rates, seen.momentum, seen.weight_decays) == (
            ("SGD",), (RATE,), (0.0,), (DECAY,),
        )  # fmt: skip
        assert (seen.clipping, seen.max_grad_norms, seen.noise_multipliers) == ("flat", (CLIP,), (Z,))
        assert seen.largest_input_norm == pytest.approx(1, rel=1e-6)
        for words in ("Linear(64, 1, bias=True)", "new random order every pass", "42 steps", "learning rate 0.1"):
            assert words in str(seen)
        with pytest.raises(AttributeError):
            seen.n = 1

    def test_poisson_sampling_is_composition_and_agrees_with_opacus(self):
        run = Run(poisson_sampling=True).epochs(2)
        found = run.found()
        assert (found.scheme, found.bound, found.neighbouring) == (
            "poisson",
            "profile:composition:poisson",
            "add_remove",
        )
        assert "composition is the smallest here" in found.note
        (hidden,) = (each for each in found.considered if each.label == "profile:poisson")
        assert hidden.value >= found.epsilon
        orders = [2, 4, 8, 16, 24, 32, 48, 64, 128]
        ours = run.engine.guarantee(1e-5, orders=orders).epsilon
        theirs = run.engine.accountant.get_epsilon(1e-5, alphas=orders)
        assert (
            theirs - 1e-9 <= ours <= theirs * (1 + 1e-5)
        )  # torch.rand draws at a rate that is a little more than 1/21

    def test_a_poisson_rate_that_torch_can_draw_gives_the_number_of_opacus(self):
        run = Run(n=1024, poisson_sampling=True).epochs(1)
        orders = [2, 8, 16, 24, 32, 48, 64, 128]
        ours = run.engine.guarantee(1e-5, orders=orders).epsilon
        theirs = RDPAccountant()
        theirs.history = [(Z, 1 / 16, 16)]
        assert ours == pytest.approx(theirs.get_epsilon(1e-5, alphas=orders), rel=1e-6)

    def test_a_partial_batch(self):
        run = Run(n=1347).epochs(3)
        found, seen = run.found(), run.engine.observed()
        assert (seen.batch_sizes, seen.divisors) == ((64, 3), (61,))  # what Opacus divides by is not the batch size
        assert found.hidden_state
        assert found.epsilon == pytest.approx(plain(n=1347, leftover="partial", divisor=61).epsilon, rel=1e-9)
        assert any("22 batches" in each for each in found.assumptions)

    @pytest.mark.parametrize(("b", "divisor"), [(64, 64), (500, 673)])
    def test_dropped_records(self, b, divisor):
        found = Run(n=1347, b=b, loader={"drop_last": True}).epochs(3).found()
        same = plain(n=1347, batch_size=b, leftover="dropped", divisor=divisor)
        assert found.hidden_state
        assert found.epsilon == pytest.approx(same.epsilon, rel=1e-9)

    def test_a_divisor_that_rounding_makes_smaller(self):
        run = Run(n=784, b=16).epochs(1)
        assert run.engine.observed().divisors == (15,)
        assert run.found().epsilon == pytest.approx(plain(n=784, batch_size=16, divisor=15, epochs=1).epsilon, rel=1e-9)
        with pytest.raises(ArgumentError, match=r"batch_size = 1: .*makes 0"):
            Run(n=49, b=1)

    def test_momentum_is_composition(self):
        found = Run(momentum=0.9).epochs(3).found()
        assert not found.hidden_state
        assert found.epsilon == composition().epsilon
        assert "momentum is 0.9" in found.note

    def test_ten_classes(self):
        """Clipping that may bite leaves the contraction proved for it, or a constant of 1 or more."""
        loss = softmax(classes=10, feature_norm=1)
        found = Run(classes=10, loss=loss, max_grad_norm=2.1).epochs(2).found()
        same = plain(loss=loss, max_grad_norm=2.1, epochs=2)
        assert found.hidden_state
        assert found.epsilon == pytest.approx(same.epsilon, rel=1e-6)
        expands = Run(classes=10, loss=loss, decay=0.01).epochs(2).found()
        assert expands.bound in ("profile:reshuffle:expanding", "shift:pattern/planned-releases")
        assert expands.setting["lipschitz"] > 1
        assert found.epsilon < expands.epsilon < composition(2).epsilon

    def test_ten_classes_without_bias(self):
        loss = softmax(classes=10, feature_norm=1, bias=False)
        model = nn.Linear(64, 10, bias=False)
        found = Run(classes=10, loss=loss, model=model, max_grad_norm=1.5).epochs(2).found()
        longer = softmax(classes=10, feature_norm="1.000001", bias=False)  # what single precision leaves room for
        same = plain(loss=longer, max_grad_norm=1.5, epochs=2)
        assert found.hidden_state
        assert found.epsilon == pytest.approx(same.epsilon, rel=1e-9)

    def test_ten_classes_clipped_a_hair_too_early(self):
        """Opacus divides by the norm plus 1e-6, so a clip norm of exactly the largest gradient's does bite."""
        data = digits(1344, 10)
        data = TensorDataset(data.tensors[0] / 2, data.tensors[1])
        loss = softmax(classes=10, feature_norm=1)
        found = Run(classes=10, data=data, loss=loss, max_grad_norm=2.0).epochs(1).found()
        assert not found.hidden_state
        assert "use max_grad_norm >= 2.00001" in found.note

    def test_two_classes_as_softmax(self):
        run = Run(classes=10, model=nn.Linear(64, 2), data=_as_two(), loss=softmax(classes=2, feature_norm=1)).epochs(2)
        assert run.found().hidden_state

    @pytest.mark.parametrize(
        ("n", "b", "batches", "most"), [(1344, 64, 21, 3), (1347, 64, 22, 3), (1344, 1344, 1, 1.3)]
    )
    def test_never_below_the_exact_law(self, n, b, batches, most):
        """With a tiny clip norm every gradient is clipped, all is Gaussian, and what a record does is known.

        For batches that a record is rarely in, hidden-state bounds do not use the noise of the steps before it.
        """
        passes, clip = 4, 0.01
        run = Run(n=n, b=b, loader={"shuffle": False}, max_grad_norm=clip).epochs(passes)
        x, y = digits(n).tensors
        with torch.no_grad():
            residual = (torch.sigmoid(run.model(x)[:, 0]) - y).abs()
        assert (residual * (x.norm(dim=1) ** 2 + 1).sqrt()).min() > clip
        keep = 1 - RATE * DECAY
        moved = 2 * sum(keep ** (batches * each) for each in range(passes))  # in units of rate·clip/divisor
        spread = Z * math.sqrt(sum(keep ** (2 * each) for each in range(passes * batches)))
        exact = gaussian_epsilon(moved / spread, 1e-5)
        found = run.found()
        assert found.scheme == ("fixed" if batches > 1 else "full_batch")
        assert exact <= found.epsilon <= most * exact


def _as_two():
    x, y = digits().tensors
    return TensorDataset(x, y.long())


def gaussian_epsilon(shift, delta):
    """The exact ε of a unit Gaussian whose mean is moved by `shift` (Balle & Wang 2018), by bisection."""

    def phi(t):
        return math.erfc(-t / math.sqrt(2)) / 2

    low, high = 0.0, 100.0
    for _ in range(100):
        mid = (low + high) / 2
        found = phi(shift / 2 - mid / shift) - math.exp(mid) * phi(-shift / 2 - mid / shift)
        low, high = (mid, high) if found > delta else (low, mid)
    return low


class TestOrder:
    def test_a_sequential_loader_is_a_fixed_order(self):
        found = Run(loader={"shuffle": False}).epochs(3).found()
        assert found.scheme == "fixed"
        assert found.epsilon == pytest.approx(plain("fixed").epsilon, rel=1e-9)

    def test_that_the_dataset_was_permuted_is_the_users_word(self):
        found = Run(loader={"shuffle": False}, scheme="shuffle").epochs(3).found()
        assert found.scheme == "shuffle"
        assert found.epsilon == pytest.approx(plain("shuffle").epsilon, rel=1e-9)
        assert any("random order once" in said for said in found.assumed_by_you)

    def test_full_batches(self):
        found = Run(b=2000).epochs(5).found()
        assert found.scheme == "full_batch"
        assert found.epsilon == pytest.approx(plain("full_batch", batch_size=1344, epochs=5).epsilon, rel=1e-9)

    @pytest.mark.parametrize(
        ("scheme", "options", "seen"),
        [
            ("reshuffle", {"poisson_sampling": True}, "Poisson"),
            ("reshuffle", {"loader": {"shuffle": False}}, "every pass the same"),
            ("shuffle", {}, "a new random order every pass"),
            ("poisson", {}, "a new random order every pass"),
            ("full_batch", {}, "a new random order every pass"),
            ("without_replacement", {}, "a new random order every pass"),
        ],
    )
    def test_a_scheme_that_contradicts_the_loader_is_an_error_that_names_both(self, scheme, options, seen):
        with pytest.raises(ArgumentError, match=f"scheme = '{scheme}': declared, and .*{seen}"):
            Run(scheme=scheme, **options)

    def test_a_generator_put_back_to_its_seed(self):
        """One order again and again: a fixed one, unless it is said to be random; never a reshuffled one."""
        for scheme, expected in ((None, "fixed"), ("shuffle", "shuffle")):
            generator = torch.Generator()
            run = Run(loader={"generator": generator}, scheme=scheme)
            for _ in range(3):
                generator.manual_seed(7)
                run.epochs(1)
            assert run.found().scheme == expected
            assert "every pass in the same order" in str(run.engine.observed())
            assert run.found().epsilon == pytest.approx(plain(expected).epsilon, rel=1e-9)
        generator = torch.Generator()
        run = Run(loader={"generator": generator}, scheme="reshuffle")
        generator.manual_seed(7)
        run.epochs(1)
        generator.manual_seed(7)
        with pytest.raises(ArgumentError, match=r"'reshuffle': declared, and pass 2 .* order of an earlier one"):
            run.epochs(1)
        with pytest.raises(ArgumentError, match="order of an earlier one"):  # and it stays refused
            run.engine.get_epsilon(1e-5)

    def test_some_orders_repeated_is_composition(self):
        generator = torch.Generator()
        run = Run(loader={"generator": generator})
        for seed in (7, 7, 8):
            generator.manual_seed(seed)
            run.epochs(1)
        found = run.found()
        assert found.epsilon == composition(3).epsilon
        assert "3 passes came in 2 different orders" in found.note

    def test_a_new_order_where_one_was_declared(self):
        run = Run(loader={"generator": torch.Generator()}, scheme="shuffle").epochs(1)
        with pytest.raises(ArgumentError, match=r"'shuffle': declared, and pass 2 .* order of its own"):
            run.epochs(1)

    def test_poisson_batches_drawn_twice(self):
        generator = torch.Generator().manual_seed(7)
        run = Run(loader={"generator": generator}, poisson_sampling=True).epochs(1)
        generator.manual_seed(7)
        with pytest.raises(ArgumentError, match="same Poisson batches"):
            run.epochs(1)

    @pytest.mark.parametrize(
        ("loader", "named"),
        [
            (lambda d: DataLoader(d, batch_size=64, sampler=RandomSampler(d, replacement=True)), "with replacement"),
            (lambda d: DataLoader(d, batch_size=64, sampler=RandomSampler(d, num_samples=640)), "640 out of 1344"),
            (lambda d: DataLoader(d, batch_size=64, sampler=SubsetRandomSampler(range(640))), "SubsetRandomSampler"),
            (lambda d: DataLoader(d, batch_sampler=[[0, 0, 1]] * 20), "list"),
            (lambda d: DataLoader(d, batch_size=None), "no batches"),
            (lambda d: DataLoader(_Stream(), batch_size=64), "IterableDataset"),
            (
                lambda d: DataLoader(
                    d, batch_size=64, sampler=torch.utils.data.DistributedSampler(d, num_replicas=2, rank=0)
                ),
                "DistributedSampler",
            ),
        ],
    )
    def test_how_often_a_record_is_used_must_be_known(self, loader, named):
        with pytest.raises(ArgumentError, match=f"{named}.*how often a record is used"):
            Run(loader=loader(digits()))


class _Stream(IterableDataset):
    def __iter__(self):
        return iter(())

    def __len__(self):
        return 640


class TestPasses:
    def test_a_pass_broken_off_is_composition_over_passes(self):
        """Three times ten of 21 batches are 30 steps, but a record may be used in all three passes."""
        found = Run().epochs(3, stop=10).found()
        assert found.epsilon == composition(3).epsilon
        assert "pass 1 over the data was broken off: 10 of 21" in found.note

    def test_within_a_pass(self):
        run = Run().epochs(1)
        assert run.found().hidden_state
        found = run.epochs(1, stop=5).found()
        assert found.epsilon == composition(2).epsilon
        assert "not finished (5 of 21" in found.note

    @pytest.mark.parametrize("options", [{"num_workers": 2}, {"num_workers": 1, "persistent_workers": True}])
    def test_workers_draw_ahead(self, options):
        run = Run(loader=options)
        assert run.epochs(2).found().epsilon == pytest.approx(plain(epochs=2).epsilon, rel=1e-9)
        assert run.epochs(1, stop=5).engine.observed().whole_passes == 2

    def test_looking_at_the_data_between_passes_is_no_pass(self):
        run = Run()
        for _ in range(2):
            run.epochs(1)
            run.model.eval()
            with torch.no_grad():
                for x, _ in run.loader:
                    run.model(x)
            run.model.train()
        assert run.engine.observed().passes == 2
        assert run.found().epsilon == pytest.approx(plain(epochs=2).epsilon, rel=1e-9)

    def test_two_passes_at_once(self):
        run = Run()
        with pytest.raises(ArgumentError, match="under way at once"):  # noqa: PT012
            for (x, y), _ in zip(run.loader, run.loader, strict=True):
                run.step(x, y)

    def test_physical_batches(self):
        run = Run()
        for _ in range(2):
            with BatchMemoryManager(
                data_loader=run.loader, max_physical_batch_size=25, optimizer=run.optimizer
            ) as small:
                run.epochs(1, loader=small)
        assert run.engine.observed().batch_sizes == (64,)
        assert run.found().epsilon == pytest.approx(plain(epochs=2).epsilon, rel=1e-9)

    def test_accumulated_batches_are_larger_batches(self):
        run = Run()
        for _ in range(2):
            for number, (x, y) in enumerate(run.loader, 1):
                run.backward(x, y)
                if number % 3 == 0:
                    run.optimizer.step()
                    run.optimizer.zero_grad()
        seen = run.engine.observed()
        assert (seen.batch_sizes, seen.accumulation, seen.divisors) == ((192,), (3,), (192,))
        assert run.found().epsilon == pytest.approx(plain(epochs=2, batch_size=192).epsilon, rel=1e-9)

    def test_gradients_carried_into_the_next_pass(self):
        run = Run()
        with pytest.raises(ArgumentError, match=r"optimizer.step = 192"):  # noqa: PT012
            for _ in range(2):
                for number, (x, y) in enumerate(run.loader, 1):
                    run.backward(x, y)
                    if number % 2 == 0:
                        run.optimizer.step()
                        run.optimizer.zero_grad()

    @pytest.mark.parametrize("change", [lambda t: t[:8], lambda t: torch.cat([t, t])])
    def test_other_records_than_the_batch(self, change):
        run = Run()
        x, y = next(iter(run.loader))
        before = [p.clone() for p in run.model.parameters()]
        with pytest.raises(ArgumentError, match=r"batches drawn for the step have \[64\]"):
            run.step(change(x), change(y))
        assert all(map(torch.equal, before, run.model.parameters()))  # no update was made

    def test_another_loader(self):
        run = Run(poisson_sampling=True)
        with pytest.raises(ArgumentError, match="no batch was drawn from the loader that make_private returned"):
            run.epochs(1, loader=run.given)

    @pytest.mark.filterwarnings("ignore")  # Opacus logs empty batches
    def test_a_step_for_every_poisson_batch(self):
        run = Run(n=60, b=1, poisson_sampling=True).epochs(1)
        assert run.engine.observed().steps == 60
        assert 0 in run.engine.observed().batch_sizes
        assert run.found().bound == "profile:poisson"
        run = Run(n=60, b=1, poisson_sampling=True)
        with pytest.raises(ArgumentError, match="a batch was skipped"):  # noqa: PT012
            for x, y in run.loader:
                if len(x):
                    run.step(x, y)


class TestUpdates:
    def composed(self, run, words):
        found = run.found()
        assert not found.hidden_state
        assert found.epsilon == composition(run.engine.observed().passes).epsilon
        assert words in found.note

    def test_a_learning_rate_schedule(self):
        run = Run()
        schedule = torch.optim.lr_scheduler.StepLR(run.optimizer, 1, 0.5)
        for _ in range(2):
            run.epochs(1)
            schedule.step()
        found = run.found()
        assert found.hidden_state
        assert found.epsilon == plain(learning_rate=["0.1", "0.05"], per="epoch", epochs=None).epsilon
        assert composition(2).epsilon > found.epsilon != plain(epochs=2).epsilon

    def test_learning_rates_of_groups_that_differ_are_no_schedule(self):
        def made(p):
            weight, bias = p
            return torch.optim.SGD([{"params": [weight], "lr": 0.05}, {"params": [bias]}], lr=0.1, weight_decay=DECAY)

        self.composed(Run(optimizer=made).epochs(1), "learning rate is not the same throughout: 0.05, 0.1")

    def test_a_schedule_under_poisson_sampling_is_composition(self):
        """Of steps that are as noisy as ever, so that it costs what one learning rate does."""
        run, same = Run(poisson_sampling=True), Run(poisson_sampling=True).epochs(2)
        schedule = torch.optim.lr_scheduler.StepLR(run.optimizer, 1, 0.5)
        for _ in range(2):
            run.epochs(1)
            schedule.step()
        found = run.found()
        assert not found.hidden_state
        assert found.bound == "profile:composition:poisson"
        composed = {each.label: each.value for each in same.found().considered}["profile:composition:poisson"]
        assert found.epsilon == pytest.approx(composed, rel=1e-3)
        assert "of each stretch of these by itself" in found.note
        assert "reshuffle" in found.helps

    def test_noise_that_changes_under_poisson_sampling(self):
        """Every step counts with its own noise: more than if all had the most, less than with the least."""
        run = Run(poisson_sampling=True, noise_multiplier=2 * Z).epochs(1)
        run.optimizer.noise_multiplier = Z
        run.epochs(1)
        quiet, loud = (Run(poisson_sampling=True, noise_multiplier=z).epochs(2).found() for z in (2 * Z, Z))
        assert run.found().bound == "profile:composition:poisson"
        assert quiet.epsilon < run.found().epsilon < loud.epsilon

    def test_noise_that_changes_where_only_composition_holds(self):
        run = Run(poisson_sampling=True, noise_multiplier=2 * Z, momentum=0.9).epochs(1)
        run.optimizer.noise_multiplier = Z
        run.epochs(1)
        plain_steps = Run(poisson_sampling=True, noise_multiplier=2 * Z).epochs(1)
        plain_steps.optimizer.noise_multiplier = Z
        plain_steps.epochs(1)
        assert "momentum is 0.9" in run.found().note
        assert run.found().epsilon == plain_steps.found().epsilon

    @pytest.mark.parametrize("poisson", [True, False])
    def test_a_learning_rate_that_falls_to_0(self, poisson):
        """As torch's cosine does in the end: no noise is added then, and composition is what is left."""
        run = Run(poisson_sampling=poisson)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(run.optimizer, 2)
        for _ in range(3):
            run.epochs(1)
            schedule.step()
        found = run.found()
        assert not found.hidden_state
        assert "eta_min" in found.note

    @pytest.mark.parametrize("poisson", [True, False])
    def test_a_rate_that_changes_in_every_step(self, poisson):
        run = Run(poisson_sampling=poisson)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(run.optimizer, 60, eta_min=0.01)
        for _ in range(2):
            for x, y in run.loader:
                run.step(x, y)
                schedule.step()
        assert run.found().hidden_state is not poisson

    def test_another_optimiser(self):
        self.composed(Run(optimizer=lambda p: torch.optim.Adam(p, lr=0.1)).epochs(1), "optimiser is Adam")

    def test_a_bias_without_decay(self):
        def groups(parameters):
            weight, bias = parameters
            return torch.optim.SGD([{"params": [weight], "weight_decay": 0.5}, {"params": [bias]}], lr=0.1)

        self.composed(Run(optimizer=groups).epochs(1), "weight decay is not the same throughout: 0.5, 0")

    def test_ascent(self):
        self.composed(Run(optimizer=lambda p: torch.optim.SGD(p, lr=0.1, maximize=True)).epochs(1), "maximize is True")

    def test_clipping_layer_by_layer(self):
        run = Run(clipping="per_layer", max_grad_norm=[1.0, 1.0]).epochs(1)
        found = run.found()
        assert "layer by layer" in found.note
        assert composition(1).epsilon <= found.epsilon <= composition(1).epsilon * (1 + 1e-6)

    def test_noise_that_changes_is_a_schedule(self):
        run = Run(noise_multiplier=2 * Z).epochs(1)
        run.optimizer.noise_multiplier = Z
        run.epochs(1)
        found = run.found()
        assert found.hidden_state
        assert found.epsilon == plain(noise_multiplier=[2 * Z, Z], per="epoch", epochs=None).epsilon
        assert found.epsilon < composition(2).epsilon

    def test_every_pass_counts_with_its_least_noise_where_only_composition_holds(self):
        run = Run(noise_multiplier=2 * Z, momentum=0.9).epochs(1)
        run.optimizer.noise_multiplier = Z
        run.epochs(1)
        assert "momentum is 0.9" in run.found().note
        told = {"n": 1344, "batch_size": 64, "noise_multiplier": [2 * Z, Z], "per": "epoch"}
        assert run.found().epsilon == epsilon(training_run(**told), delta=1e-5, scheme="reshuffle").epsilon
        assert run.found().epsilon < composition(2).epsilon

    def test_no_weight_decay(self):
        found = Run(decay=0.0, loader={"shuffle": False}).epochs(3).found()
        assert found.epsilon == pytest.approx(plain("fixed", weight_decay=0).epsilon, rel=1e-9)

    def test_sums_instead_of_means(self):
        found = (
            Run(
                loss_reduction="sum",
                criterion=nn.BCEWithLogitsLoss(reduction="sum"),
                rate=0.001,
                loader={"shuffle": False},
            )
            .epochs(2)
            .found()
        )
        same = plain("fixed", divisor=1, learning_rate="0.001", epochs=2)
        assert found.epsilon == pytest.approx(same.epsilon, rel=1e-9)

    @pytest.mark.parametrize("mode", ["functorch", "ew"])
    def test_other_ways_to_per_record_gradients(self, mode):
        assert Run(grad_sample_mode=mode).epochs(1).found().hidden_state

    def test_an_unwrapped_model(self):
        model = nn.Linear(64, 1)
        run = Run(model=model, wrap_model=False)
        run.model = model
        assert run.epochs(1).found().hidden_state

    def test_weights_changed_between_steps(self):
        def clamp(run):
            with torch.no_grad():
                for p in run.model.parameters():
                    p.clamp_(-0.01, 0.01)

        with pytest.raises(ArgumentError, match="before step 2"):
            Run().epochs(1, between=clamp)

    def test_gradients_changed_after_noise_was_added(self):
        run = Run()

        def double(inner, args, kwargs):
            for p in run.model.parameters():
                p.grad *= 2

        run.optimizer.original_optimizer.register_step_pre_hook(double)
        with pytest.raises(ArgumentError, match="step 1 was not learning rate"):
            run.epochs(1)

    def test_noise_drawn_before(self):
        run = Run().epochs(1, stop=3)
        torch.manual_seed(5)
        run.epochs(1)
        torch.manual_seed(5)
        with pytest.raises(ArgumentError, match="same noise"):
            run.epochs(1)
        with pytest.raises(ArgumentError, match="same noise"):
            run.found()

    def test_a_step_without_noise(self):
        run = Run()
        x, y = next(iter(run.loader))
        run.backward(x, y)
        with pytest.raises(ArgumentError, match="without clipping and noise"):
            run.optimizer.original_optimizer.step()
        with pytest.raises(ArgumentError, match="without clipping and noise"):
            run.engine.get_epsilon(1e-5)

    @pytest.mark.parametrize(
        ("options", "named"),
        [
            ({"grad_sample_mode": "ghost"}, "grad_sample_mode = 'ghost'.*use grad_sample_mode='hooks'"),
            ({"clipping": "adaptive"}, "clipping = 'adaptive'.*use clipping='flat'"),
            ({"noise_multiplier": 0.0}, "noise_multiplier = 0.0"),
            ({"poisson_sampling": True, "rand_on_empty": True}, "rand_on_empty = True"),
        ],
    )
    def test_what_nothing_accounts_for(self, options, named):
        with pytest.raises(ArgumentError, match=named):
            Run(**options)


class TestLoss:
    @pytest.mark.parametrize(
        ("options", "declared", "seen"),
        [
            ({"model": nn.Sequential(nn.Linear(64, 4), nn.Linear(4, 1))}, "logistic", "Linear.*, Linear.*not one"),
            ({"model": nn.Linear(64, 1, bias=False)}, "logistic", "bias=True, and the model is .*bias=False"),
            ({"model": nn.Linear(64, 2)}, "logistic", r"one score, and the model is Linear\(64, 2"),
            ({"loss": softmax(classes=10, feature_norm=1)}, "softmax", r"10 scores, and the model is Linear\(64, 1"),
            (
                {"classes": 10, "loss": softmax(classes=10, feature_norm=1, bias=False)},
                "softmax",
                "bias=False, and the model is .*bias=True",
            ),
            (
                {"classes": 10, "loss": softmax(classes=10, feature_norm=1), "model": nn.Linear(64, 10, bias=False)},
                "softmax",
                "bias=True, and the model is .*bias=False",
            ),
            ({"model": nn.Sequential(nn.Dropout(), nn.Linear(64, 1))}, "logistic", "Dropout"),
            ({"optimizer": lambda p: torch.optim.SGD([next(iter(p))], lr=0.1)}, "", "part of the Linear layer"),
        ],
    )
    def test_another_model_than_declared(self, options, declared, seen):
        with pytest.raises(ArgumentError, match=f"{declared}.*{seen}"):
            Run(**options)

    def test_frozen_features_are_inputs(self):
        model = nn.Sequential(nn.Linear(64, 8), nn.Tanh(), nn.Linear(8, 1))
        model[0].requires_grad_(False)
        assert Run(model=model, loss=logistic(feature_norm=3)).epochs(1).found().hidden_state

    def test_an_input_longer_than_declared(self):
        run = Run(loss=logistic(feature_norm="0.9"))
        before = [p.clone() for p in run.model.parameters()]
        with pytest.raises(ArgumentError, match=r"feature_norm = '9/10': declared, and .* norm 1\.0"):
            run.epochs(1)
        assert all(map(torch.equal, before, run.model.parameters()))
        with pytest.raises(ArgumentError, match="feature_norm"):
            run.engine.get_epsilon(1e-5)

    def test_rounding_of_inputs_is_accounted_for(self):
        """Inputs scaled to norm 1 in single precision exceed it by a hair, and the account says so."""
        found = Run().epochs(1).found()
        assert found.setting["beta"] > Fraction(1, 2) + Fraction(1, 2)
        assert found.setting["beta"] < Fraction(1, 2) + Fraction(1, 2) + Fraction(1, 10**6)

    @pytest.mark.parametrize(
        "criterion",
        [
            nn.BCEWithLogitsLoss(pos_weight=torch.tensor(3.0)),
            nn.BCEWithLogitsLoss(reduction="sum"),
            nn.MSELoss(),
        ],
    )
    def test_another_loss_than_declared(self, criterion):
        with pytest.raises(ArgumentError, match=r"loss = 'logistic\(.*off by"):
            Run(criterion=criterion).epochs(1)

    def test_soft_labels_are_logistic(self):
        x, y = digits().tensors
        assert Run(data=TensorDataset(x, 0.9 * y + 0.05)).epochs(1).found().hidden_state

    def test_another_softmax_than_declared(self):
        smooth = nn.CrossEntropyLoss(label_smoothing=0.1)
        with pytest.raises(ArgumentError, match=r"loss = 'softmax\(.*off by"):
            Run(classes=10, loss=softmax(classes=10, feature_norm=1), criterion=smooth).epochs(1)

    @pytest.mark.parametrize(
        ("loss", "criterion"), [(squared(feature_norm=1), nn.MSELoss()), (huber(feature_norm=1), nn.HuberLoss())]
    )
    def test_least_squares_and_huber(self, loss, criterion):
        found = Run(loss=loss, criterion=criterion, loader={"shuffle": False}).epochs(1).found()
        assert found.hidden_state
        assert any(f"a {loss.curvature}-Lipschitz derivative" in each for each in found.assumed_by_you)

    @pytest.mark.parametrize("loss", [None, vouched(lipschitz="0.95")])
    def test_any_model_without_a_declared_regression(self, loss):
        model = nn.Sequential(nn.Linear(64, 4), nn.ReLU(), nn.Linear(4, 1))
        found = Run(model=model, loss=loss).epochs(2).found()
        assert found.hidden_state == (loss is not None)
        if loss is None:
            assert found.epsilon == composition(2).epsilon
            assert "nothing is known of the clipped loss" in found.note

    def test_no_loss_at_all(self):
        with pytest.raises(ArgumentError, match="loss"):
            HiddenStateEngine(loss="logistic")
        with pytest.raises(ArgumentError, match="scheme"):
            HiddenStateEngine(scheme="x")


class TestEngine:
    def test_before_the_first_step(self):
        run = Run()
        assert run.engine.get_epsilon(1e-5) == 0
        assert (run.engine.observed().steps, run.engine.observed().scheme) == (0, "reshuffle")
        assert "0 steps" in str(run.engine.observed())
        with pytest.raises(ArgumentError, match="delta"):
            run.engine.get_epsilon(2)
        with pytest.raises(ArgumentError, match="no step was made yet"):
            run.found()
        with pytest.raises(ArgumentError, match="not called yet"):
            HiddenStateEngine().get_epsilon(1e-5)

    def test_one_engine_one_run(self):
        run = Run()
        with pytest.raises(ArgumentError, match="make another engine"):
            run.engine.make_private(module=run.model, optimizer=run.optimizer, data_loader=run.loader)

    def test_a_second_run_of_the_same_model_has_an_engine_of_its_own(self):
        first = Run().epochs(1)
        second = HiddenStateEngine(loss=LOGISTIC)
        first.model, first.optimizer, first.loader = second.make_private(
            module=first.model,
            optimizer=first.optimizer,
            data_loader=first.loader,
            noise_multiplier=Z,
            max_grad_norm=CLIP,
            poisson_sampling=False,
        )
        first.epochs(2)
        assert second.guarantee(1e-5).epsilon == pytest.approx(plain(epochs=2).epsilon, rel=1e-9)

    def test_what_opacus_would_do_without_knowing_the_run(self):
        run = Run()
        with pytest.raises(ArgumentError, match=r"target_epsilon = 1.0.*calibrate"):
            run.engine.make_private_with_epsilon(target_epsilon=1.0)
        with pytest.raises(ArgumentError, match=r"path = 'x'.*epsilon_of_all"):
            run.engine.load_checkpoint(path="x", module=run.model)

    def test_the_run_for_other_questions(self):
        run = Run().epochs(2)
        again = epsilon(run.engine.training_run(), delta=1e-5, scheme="reshuffle")
        assert again.epsilon == run.found().epsilon

    def test_training_is_not_changed_by_being_watched(self):
        from opacus import PrivacyEngine

        weights = []
        for engine in (PrivacyEngine(), HiddenStateEngine(loss=LOGISTIC)):
            torch.manual_seed(3)
            model = nn.Linear(64, 1)
            model, optimizer, loader = engine.make_private(
                module=model,
                optimizer=torch.optim.SGD(model.parameters(), lr=RATE, weight_decay=DECAY),
                data_loader=DataLoader(digits(), batch_size=64, shuffle=True),
                noise_multiplier=Z,
                max_grad_norm=CLIP,
                poisson_sampling=False,
            )
            for x, y in loader:
                nn.functional.binary_cross_entropy_with_logits(model(x)[:, 0], y).backward()
                optimizer.step()
                optimizer.zero_grad()
            weights.append([p.detach().clone() for p in model.parameters()])
        assert all(map(torch.equal, *weights))

    def test_the_example_of_the_readme(self):
        """The whole of it, as printed."""
        import pathlib
        import re

        text = pathlib.Path(__file__).parents[2].joinpath("README.md").read_text(encoding="utf-8")
        (code,) = re.findall(r"```python\n(import torch\n.*?)```", text, flags=re.DOTALL)
        names = {}
        exec(compile(code, "README.md", "exec"), names)
        assert names["engine"].guarantee(1e-5).hidden_state
