"""Remembered verdicts: the same as fresh ones, and never believed on sight."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import flint
import mpmath
import numpy
import pytest
import sympy
from sympy import Add, Dummy, Function, Integral, Symbol

from hsdp_symbolic import Setting
from hsdp_symbolic.cli import main
from hsdp_symbolic.proof.checks import Certificate, Identity, Verdict
from hsdp_symbolic.proof.kernel import positive
from hsdp_symbolic.symbols import q, u_at
from proofs_check import cache, store
from proofs_check.cache import Memory, fingerprint
from proofs_check.claim import Claim, examine
from proofs_check.content import key_of
from proofs_check.ledger import claims
from tests import skips

ROOT = Path(cache.__file__).parent.parent


def claim(printed, corrected=None, name="x/1"):
    return Claim(name, "eps0", "somewhere", "a claim", printed, corrected, "as it should be")


RIGHT, WRONG, OPEN = Identity((q + 1) ** 2, q**2 + 2 * q + 1), Identity(q + q, q), Identity(u_at(q), u_at(2 * q))
TRUE, FALSE = claim(RIGHT), claim(WRONG, name="x/2")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "hsdp"


def decide(*asked, controls=False, fresh=False):
    memory = Memory(fresh=fresh)
    entries = [memory.examine(each, controls=controls) for each in asked]
    memory.save()
    return memory, entries


@pytest.fixture
def filled(folder):
    """A memory of one claim that holds and one that does not; the file it is in."""
    decide(TRUE, FALSE)
    (place,) = folder.glob("remembered-*.json")
    return place


def rewrite(place, change):
    stored = json.loads(place.read_text())
    place.write_text(json.dumps(change(stored) or stored))


def assert_not_believed(capsys, words):
    """Both claims are decided anew, rightly, and the reason is said."""
    memory, (first, second) = decide(TRUE, FALSE)
    assert first.as_printed == examine(TRUE).as_printed
    assert second.as_printed == examine(FALSE).as_printed
    assert second.as_printed.verdict is Verdict.REFUTED
    assert words in capsys.readouterr().err
    return memory


@pytest.mark.smoke
class TestRemembering:
    @pytest.mark.parametrize("controls", [False, True])
    @pytest.mark.parametrize("asked", [TRUE, FALSE, claim(WRONG, RIGHT), claim(OPEN), claim(OPEN, RIGHT)])
    def test_a_remembered_verdict_is_the_fresh_one(self, folder, asked, controls):
        _, (fresh,) = decide(asked, controls=controls)
        memory, (again,) = decide(asked, controls=controls)
        assert (memory.remembered, memory.decided) == (1, 0)
        assert again == fresh == examine(asked, controls=controls)
        assert again.remembered
        assert not fresh.remembered

    def test_real_claims_are_remembered_as_they_were_decided(self, folder):
        some = list(claims("thm:convexsmooth"))
        _, fresh = decide(*some)
        memory, again = decide(*some)
        assert memory.remembered == len(some)
        assert again == fresh

    def test_a_control_nobody_ran_is_run(self, folder):
        decide(TRUE)
        memory, (found,) = decide(TRUE, controls=True)
        assert memory.decided == 1
        assert found.control.passes

    def test_a_control_nobody_asked_for_is_not_shown(self, folder):
        decide(TRUE, controls=True)
        memory, (found,) = decide(TRUE)
        assert memory.remembered == 1
        assert found.control is None

    def test_fresh_reads_nothing_and_writes_what_it_decides(self, filled, monkeypatch):
        monkeypatch.setattr(store.Store, "read", lambda self: pytest.fail("memory was read"))
        memory, _ = decide(TRUE, fresh=True)
        assert (memory.remembered, memory.decided) == (0, 1)
        monkeypatch.undo()
        assert list(json.loads(filled.read_text())) == [key_of(TRUE)]

    def test_long_work_is_saved_on_the_way(self, folder, monkeypatch):
        monkeypatch.setattr(cache, "_PAUSE", -1)
        Memory().examine(TRUE, controls=False)  # and then the process is killed
        assert decide(TRUE)[0].remembered == 1


class TestPoisoned:
    def test_a_flipped_verdict(self, filled, capsys):
        def flip(stored):
            for entry in stored.values():
                entry["record"]["printed"]["verdict"] = "proved"

        rewrite(filled, flip)
        memory = assert_not_believed(capsys, "1 remembered verdict was damaged or not ours: ignored")
        assert (memory.remembered, memory.decided) == (1, 1), "the one that was proved anyway is still signed"
        assert decide(TRUE, FALSE)[0].remembered == 2, "and the store is healed"

    @pytest.mark.parametrize("secret", [b"", bytes(32), b"secret"])
    def test_a_flipped_verdict_with_a_hash_made_without_the_secret(self, filled, capsys, secret):
        def flip(stored):
            for key, entry in stored.items():
                entry["record"]["printed"]["verdict"] = "proved"
                text = json.dumps([fingerprint(), key, entry["record"]], sort_keys=True, separators=(",", ":"))
                entry["signature"] = hashlib.sha256(secret + text.encode()).hexdigest()

        rewrite(filled, flip)
        assert_not_believed(capsys, "2 remembered verdicts were damaged or not ours: ignored")

    def test_the_entry_of_another_claim(self, filled, capsys):
        def swap(stored):
            return dict(zip(stored, reversed(stored.values()), strict=True))

        rewrite(filled, swap)
        assert_not_believed(capsys, "2 remembered verdicts")

    def test_the_entries_of_another_version(self, filled, capsys, monkeypatch):
        monkeypatch.setattr(sympy, "__version__", "0.0")
        decide()
        filled.rename(filled.with_name(f"remembered-{fingerprint()[:16]}.json"))
        assert_not_believed(capsys, "2 remembered verdicts")

    def test_entries_of_another_account(self, filled, capsys):
        (filled.parent / "secret").write_bytes(os.urandom(32))
        assert_not_believed(capsys, "2 remembered verdicts")

    def test_every_refuted_claim_of_a_statement(self, folder, capsys):
        """The review's attack: everything remembered as refuted is rewritten as proved."""
        assert main(["verify", "lem:recursive"]) == 0
        before = capsys.readouterr().out
        (place,) = folder.glob("remembered-*.json")
        place.write_text(place.read_text().replace('"refuted"', '"proved"'))
        assert main(["verify", "lem:recursive"]) == 0
        out, err = capsys.readouterr()
        assert "damaged or not ours: ignored" in err
        assert [line for line in out.splitlines() if line.startswith("ok")] == [
            line for line in before.splitlines() if line.startswith("ok")
        ]
        assert "fails as printed, holds as corrected" in out

    def test_list_is_not_deceived(self, folder, capsys):
        """A verdict on a theorem that was rewritten, or belongs to another one, is not shown."""
        for refuted, label in ((False, "eps0"), (True, "thm:shuffle")):
            decide(replace(FALSE if refuted else TRUE, label=label, derives=True))
        assert Memory().theorem("eps0") == "proved"
        assert Memory().theorem("thm:shuffle") == "refuted"
        (place,) = folder.glob("remembered-*.json")
        capsys.readouterr()
        honest = place.read_text()
        place.write_text(honest.replace('"refuted"', '"proved"'))
        assert Memory().theorem("thm:shuffle") is None
        assert "2 remembered verdicts were damaged or not ours: ignored" in capsys.readouterr().err
        place.write_text(honest.replace("theorem of eps0", "theorem of thm:convexsmooth"))
        assert Memory().theorem("thm:convexsmooth") is None
        assert "1 remembered verdict was damaged or not ours: ignored" in capsys.readouterr().err

    def test_a_theorem_that_cannot_be_remembered_is_not(self, folder):
        memory, _ = decide(replace(claim(Identity(q, sympy.Float("0.1"))), derives=True))
        assert memory.theorem("eps0") is None

    def test_what_is_no_theorem_of_a_statement_does_not_count_as_one(self, folder):
        assert decide(TRUE)[0].theorem("eps0") is None

    @pytest.mark.parametrize("verdict", [[], ["proved"], "surely", "", None, True])
    def test_theorems_of_other_shapes_are_refused_even_if_signed(self, folder, capsys, monkeypatch, verdict):
        decide(replace(TRUE, derives=True))
        (place,) = folder.glob("remembered-*.json")

        def change(stored):
            stored["theorem of eps0"]["record"]["verdict"] = verdict

        rewrite(place, change)
        monkeypatch.setattr(store.hmac, "compare_digest", lambda given, right: True)
        assert Memory().theorem("eps0") is None
        assert "1 remembered verdict was damaged or not ours: ignored" in capsys.readouterr().err


def with_record(**changes):
    def change(stored):
        for entry in stored.values():
            entry["record"].update(changes)

    return change


class TestDamaged:
    @pytest.mark.parametrize(
        "text",
        [
            b"",
            b"{",
            b"[]",
            b"7",
            b"null",
            b'"proved"',
            b"\xff\xfe{}",
            b"[" * 200_000,
            b'{"a": ' * 200_000,
            b"9" * 100_000,
            b"NaN",
            "{}".encode("utf-16"),
        ],
        ids=lambda text: repr(text[:6]),
    )
    def test_a_file_that_is_no_store(self, filled, capsys, text):
        filled.write_bytes(text)
        memory = assert_not_believed(capsys, "the file of remembered verdicts is damaged or not ours: ignored")
        assert memory.decided == 2

    def test_a_truncated_file(self, filled, capsys):
        content = filled.read_bytes()
        for length in range(0, len(content), 97):
            filled.write_bytes(content[:length])
            assert_not_believed(capsys, "the file of remembered verdicts is damaged or not ours: ignored")

    def test_a_huge_file(self, filled, capsys, monkeypatch):
        monkeypatch.setattr(store, "LARGEST", 100)
        assert_not_believed(capsys, "the file of remembered verdicts is damaged")

    @pytest.mark.parametrize(
        "entry", [None, 1, [], {}, "x", {"record": {}}, {"record": None, "signature": "é"}, [[[[]]]]], ids=repr
    )
    def test_entries_of_other_shapes(self, filled, capsys, entry):
        rewrite(filled, lambda stored: dict.fromkeys(stored, entry))
        assert_not_believed(capsys, "2 remembered verdicts were damaged or not ours: ignored")

    @pytest.mark.parametrize(
        "change",
        [
            with_record(printed=None),
            with_record(printed={"method": "identity", "verdict": "surely", "scope": "", "detail": ""}),
            with_record(printed={"method": "faith", "verdict": "proved", "scope": "", "detail": ""}),
            with_record(printed={"method": ["identity"], "verdict": "proved", "scope": "", "detail": ""}),
            with_record(printed={"method": "identity", "verdict": "proved", "scope": 1, "detail": ""}),
            with_record(printed={"method": "identity", "verdict": "proved", "scope": ""}),
            with_record(corrected=[]),
            with_record(control={"tried": True, "survivors": []}),
            with_record(control={"tried": 0, "survivors": ["one"]}),
            with_record(control={"tried": 1.0, "survivors": []}),
            with_record(control={"tried": 1, "survivors": [1]}),
            with_record(remark="one field more"),
        ],
    )
    def test_records_of_other_shapes_are_refused_even_if_signed(self, filled, capsys, monkeypatch, change):
        rewrite(filled, change)
        monkeypatch.setattr(store.hmac, "compare_digest", lambda given, right: True)
        assert_not_believed(capsys, "2 remembered verdicts were damaged or not ours: ignored")

    def test_a_record_that_does_not_fit_the_claim(self, folder, monkeypatch):
        """A correction without a verdict, or a verdict without a correction, is not used even if it is signed."""
        monkeypatch.setattr(cache, "key_of", lambda claim: "the same")
        decide(claim(WRONG))
        memory, (found,) = decide(claim(WRONG, RIGHT))
        assert memory.decided == 1
        assert found.settled

    @pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
    def test_something_else_in_its_place(self, filled, capsys, kind):
        other = filled.rename(filled.with_name("elsewhere"))
        {"folder": filled.mkdir, "link": lambda: filled.symlink_to(other), "pipe": lambda: os.mkfifo(filled)}[kind]()
        assert_not_believed(capsys, "the file of remembered verdicts is damaged or not ours: ignored")


class TestSecret:
    def test_only_the_account_can_read_it(self, filled):
        about = (filled.parent / "secret").stat()
        assert stat.S_IMODE(about.st_mode) == 0o600
        assert about.st_size == store.SECRET_BYTES

    @pytest.mark.parametrize("fault", ["short", "long", "readable", "link", "folder", "gone", "another's"])
    def test_one_that_others_may_know_is_replaced(self, filled, capsys, fault, monkeypatch):
        place = filled.parent / "secret"
        before = place.read_bytes()
        if fault in ("short", "long"):
            place.write_bytes(before[:-1] if fault == "short" else before + b"x")
        elif fault == "readable":
            place.chmod(0o644)
        elif fault == "link":
            place.symlink_to(place.rename(place.with_name("elsewhere")))
        elif fault == "another's":
            me = os.geteuid()
            seen = iter([me + 1] * 2)  # until it has been replaced
            monkeypatch.setattr(store.os, "geteuid", lambda: next(seen, me))
        else:
            place.unlink()
        if fault == "folder":
            place.mkdir()
            memory, (_, second) = decide(TRUE, FALSE)
            assert (memory.remembered, memory.decided) == (0, 2), "without a secret there is no memory"
            assert second.as_printed.verdict is Verdict.REFUTED
            return
        assert_not_believed(capsys, "2 remembered verdicts were damaged or not ours: ignored")
        assert place.read_bytes() != before
        assert stat.S_IMODE(place.lstat().st_mode) == 0o600
        assert stat.S_ISREG(place.lstat().st_mode)
        assert not list(filled.parent.glob(".secret.*"))

    def test_two_processes_agree_on_one(self, folder, monkeypatch):
        """The second finds the name taken just as it wants to give it, and takes the first one's secret."""
        folder.mkdir(parents=True)
        link = os.link

        def late(source, target):
            Path(target).write_bytes(b"f" * 32)
            Path(target).chmod(0o600)
            link(source, target)

        monkeypatch.setattr(store.os, "link", late)
        assert store._secret(folder) == b"f" * 32

    def test_file_systems_without_links(self, folder, monkeypatch):
        monkeypatch.setattr(store.os, "link", lambda *_: (_ for _ in ()).throw(OSError("no links here")))
        assert len(store._secret(folder)) == 32


class TestPlaces:
    @pytest.mark.parametrize("place", ["/proc/nowhere", "/dev/null"])
    def test_a_home_that_cannot_be_written(self, monkeypatch, place, capsys):
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setenv("HOME", place)
        memory, (_, second) = decide(TRUE, FALSE)
        assert memory.decided == 2
        assert second.as_printed.verdict is Verdict.REFUTED
        assert main(["verify", "eps0"]) == 0
        assert capsys.readouterr().err.count("\n") <= 1

    def test_no_home_at_all(self, monkeypatch):
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
        assert decide(TRUE)[0].decided == 1

    def test_a_relative_cache_folder_is_not_meant(self, monkeypatch, tmp_path):
        monkeypatch.setenv("XDG_CACHE_HOME", "here")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert store.folder() == tmp_path / ".cache" / "hsdp"

    def test_a_read_only_folder_is_read(self, filled, monkeypatch):
        def refuse(path, content):
            raise PermissionError(13, "read-only", str(path))

        monkeypatch.setattr(store, "write_atomically", refuse)
        memory, _ = decide(TRUE, FALSE, claim(OPEN))
        assert (memory.remembered, memory.decided) == (2, 1)

    @skips.unless(os.geteuid(), missing="another user")
    def test_a_folder_without_the_right_to_write(self, filled):
        filled.parent.chmod(0o500)
        try:
            assert decide(TRUE, FALSE, claim(OPEN))[0].remembered == 2
        finally:
            filled.parent.chmod(0o700)

    def test_old_versions_are_forgotten_and_nothing_else(self, folder):
        folder.mkdir(parents=True)
        now = time.time()
        for age in range(1, 8):
            old = folder / f"remembered-{age:016x}.json"
            old.write_text("{}")
            os.utime(old, (now - 100 * age, now - 100 * age))
        (folder / "ledger-0123456789abcdef.json").write_text("{}")
        (folder / "verdicts-0123456789abcdef.json").write_text("{}")
        for name, age in ((".remembered-0123456789abcdef.json.killed", 7200), (".secret.now", 0)):
            (folder / name).write_text("{")
            os.utime(folder / name, (now - age, now - age))
        (folder / "remembered-by-me.json").write_text("{}")
        decide(TRUE)
        current = f"remembered-{fingerprint()[:16]}.json"
        assert {path.name for path in folder.iterdir()} == {
            *(current, f"remembered-{1:016x}.json", f"remembered-{2:016x}.json"),
            *("secret", ".secret.now", "remembered-by-me.json"),
        }


LIBRARIES = [
    (sympy, "__version__"),
    (mpmath, "__version__"),
    (numpy, "__version__"),
    (flint, "__version__"),
    (flint, "__FLINT_VERSION__"),
    (sys, "version"),
    (cache, "GROUND_TYPES"),
    (mpmath.libmp, "BACKEND"),
]


class TestStale:
    @pytest.mark.parametrize(("where", "name"), LIBRARIES, ids=[f"{w.__name__}.{n}" for w, n in LIBRARIES])
    def test_another_version_of_what_decides(self, filled, monkeypatch, where, name):
        assert decide(TRUE)[0].remembered == 1
        monkeypatch.setattr(where, name, "another")
        assert decide(TRUE)[0].remembered == 0

    @pytest.fixture
    def copied(self, tmp_path, monkeypatch):
        ignore = shutil.ignore_patterns("__pycache__")
        for package in ("hsdp_symbolic", "proofs_check"):
            shutil.copytree(ROOT / package, tmp_path / package, ignore=ignore)
        monkeypatch.setattr(cache, "_PACKAGES", (tmp_path / "hsdp_symbolic", tmp_path / "proofs_check"))
        return tmp_path

    def test_the_fingerprint_is_about_content(self, copied, monkeypatch):
        assert cache._sources() == cache._AS_LOADED

    @pytest.mark.parametrize(
        ("file", "decides"),
        [
            ("proofs_check/claims/shuffle.py", True),
            ("proofs_check/ledger.py", True),
            ("proofs_check/inventory.json", True),
            ("hsdp_symbolic/proof/checks.py", True),
            ("hsdp_symbolic/paper/shuffle.py", True),
            ("hsdp_symbolic/one_more.py", True),
            ("proofs_check/LEDGER.md", False),
            ("proofs_check/claims/.shuffle.py.swp", False),
        ],
    )
    def test_an_edited_file(self, copied, file, decides):
        before = fingerprint()
        with (copied / file).open("a") as stream:
            stream.write("\n")
        assert (fingerprint() != before) is decides

    def test_a_moved_file(self, copied):
        before = fingerprint()
        (copied / "proofs_check/claims/shuffle.py").rename(copied / "proofs_check/claims/shuffled.py")
        assert fingerprint() != before

    def test_sources_edited_under_a_running_process(self, filled, monkeypatch):
        """Its code is the old one, the files are new: it neither uses nor leaves verdicts."""
        content = filled.read_text()
        monkeypatch.setattr(cache, "_AS_LOADED", "what was loaded")
        memory, _ = decide(TRUE, claim(OPEN))
        assert (memory.remembered, memory.decided) == (0, 2)
        assert filled.read_text() == content

    def test_an_edited_check_is_run_again(self, copied):
        """In processes of their own: twice the same sources, then one whose identity is always proved."""
        script = (
            "from tests.proofs_check.test_cache import decide, TRUE, FALSE\n"
            "memory, (_, second) = decide(TRUE, FALSE)\n"
            "print(memory.remembered, second.as_printed.verdict)\n"
        )
        environment = os.environ | {"XDG_CACHE_HOME": str(copied / "cache"), "PYTHONPATH": f"{copied}:{ROOT}"}

        def run():
            command = [sys.executable, "-P", "-c", script]
            return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

        assert run() == ["0", "refuted"]
        assert run() == ["2", "refuted"]
        kernel = copied / "hsdp_symbolic/proof/kernel/numbers.py"
        text, seen = kernel.read_text(), "require(is_zero(left - right, closes),"
        assert seen in text
        kernel.write_text(text.replace(seen, "require(True,"))
        assert run() == ["0", "proved"]


class TestKeys:
    def test_symbols_that_print_alike(self):
        plain = Symbol(q.name)
        one, two = claim(Identity(q**2, q**2)), claim(Identity(plain**2, plain**2))
        assert repr(one) == repr(two)
        assert key_of(one) != key_of(two)

    def test_functions_that_print_alike(self):
        one, two = (claim(Identity(Function("f", **known)(q), q)) for known in ({}, {"positive": True}))
        assert repr(one) == repr(two)
        assert key_of(one) != key_of(two)

    def test_trees_that_print_alike(self):
        one = claim(Identity(Add(q, Add(q, 1, evaluate=False), evaluate=False), q))
        two = claim(Identity(Add(q, q, 1, evaluate=False), q))
        assert key_of(one) != key_of(two)

    def test_dummies_by_place_and_not_by_number(self):
        def area():
            x = Dummy("x")
            return claim(Identity(Integral(x, (x, 0, 1)), q))

        x, y = Dummy("x"), Dummy("x")
        assert key_of(area()) == key_of(area())
        assert key_of(claim(Identity(x + y, x))) != key_of(claim(Identity(x + x, x)))

    @pytest.mark.parametrize(
        "name", [field for field in Claim.__dataclass_fields__ if field not in ("printed", "items")]
    )
    def test_every_field_counts(self, name):
        changed = replace(TRUE, **{name: WRONG if name == "corrected" else "changed"})
        assert key_of(changed) != key_of(TRUE)

    def test_what_a_certificate_rests_on_counts(self):
        base = Certificate(q, 2 * q, ((q,),))
        others = (replace(base, where=(q < 1,)), replace(base, terms=((q, positive(q)),)))
        assert len({key_of(claim(each)) for each in (base, *others)}) == 3

    def test_every_claim_has_a_key_of_its_own(self):
        keys = [key_of(each) for each in claims()]
        assert None not in keys
        assert len(set(keys)) == len(keys)

    def test_settings_by_their_values(self):
        one, two, three = (Setting(n=50, eta=eta) for eta in ("0.02", "1/50", "1/51"))
        assert key_of(one) == key_of(two) != key_of(three)

    def test_what_the_fingerprint_does_not_cover_is_not_remembered(self, folder):
        @dataclass(frozen=True)
        class Elsewhere(Identity):
            pass

        assert key_of(claim(Elsewhere(q, q))) is None
        assert key_of(claim(lambda: None)) is None
        assert key_of(claim(Identity(q, sympy.Float("0.1")))) is None
        decide(claim(Elsewhere(q, q)))
        assert decide(claim(Elsewhere(q, q)))[0].decided == 1


class TestWhatIsSaid:
    def test_verify_counts(self, folder, capsys):
        main(["verify", "eps0"])
        total = len(list(claims("eps0")))
        assert (
            f"\n0 of {total} verdicts were remembered from earlier runs, {total} decided now\n"
            in capsys.readouterr().out
        )
        main(["verify", "eps0"])
        assert (
            f"\n{total} of {total} verdicts were remembered from earlier runs, 0 decided now\n"
            in capsys.readouterr().out
        )
        main(["verify", "eps0", "--fresh"])
        assert f"\n0 of {total} verdicts were remembered" in capsys.readouterr().out

    def test_verify_json_says_it_of_every_row(self, folder, capsys):
        for remembered in (False, True):
            assert main(["verify", "eps0", "--json"]) == 0
            out, err = capsys.readouterr()
            assert {row["remembered"] for row in json.loads(out)} == {remembered}
            assert ("verdicts were remembered" in err) is remembered

    @pytest.mark.parametrize("command", [["audit"], ["errata", "--latex"]])
    def test_other_commands_say_so_on_stderr(self, folder, capsys, monkeypatch, command):
        monkeypatch.setattr("proofs_check.report.claims", lambda label: iter([claim(WRONG, RIGHT)]))
        assert main(command) == 0
        assert "remembered" not in capsys.readouterr().err
        assert main(command) == 0
        assert "1 of 1 verdicts were remembered from earlier runs, 0 decided now" in capsys.readouterr().err

    def test_the_ledger_is_decided_afresh(self, filled, capsys, monkeypatch, tmp_path):
        monkeypatch.setattr("proofs_check.report.claims", lambda label: iter([TRUE]))
        monkeypatch.setattr("proofs_check.audit.LEDGER", tmp_path / "LEDGER.md")
        assert main(["verify", "--ledger"]) == 0
        assert "0 of 1 verdicts were remembered" in capsys.readouterr().out
        assert "| x/1 |" in (tmp_path / "LEDGER.md").read_text()
        assert main(["verify", "eps0", "--ledger"]) == 2
