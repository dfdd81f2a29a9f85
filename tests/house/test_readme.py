"""The README's console examples: what is printed there is what the command prints."""

import re
import shlex
from pathlib import Path

import pytest

from hsdp_symbolic.cli import commands, main
from proofs_check.register import parts_of_claims

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n\$ hsdp (.*?)\n(.*?)^```", README, re.S | re.M)


def matches(shown, printed):
    """Whether lines are those printed; a line `…` stands for any lines, an ending `…` for the rest of a line."""
    if not shown:
        return not printed
    first, *rest = shown
    if first == "…":
        return any(matches(rest, printed[skip:]) for skip in range(len(printed) + 1))
    same = printed and (printed[0].startswith(first[:-1].rstrip()) if first.endswith("…") else printed[0] == first)
    return bool(same) and matches(rest, printed[1:])


@pytest.mark.parametrize(("command", "output"), BLOCKS, ids=[command.split()[0] for command, _ in BLOCKS])
def test_printed_output_is_real(command, output, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)) == 0
    assert matches(output.splitlines(), capsys.readouterr().out.splitlines())


def test_there_are_five_and_what_people_run():
    names = ["verify", "latex", "figures", "epsilon", "schemes", "practice"]
    assert [command.split()[0] for command, _ in BLOCKS] == names


def test_a_wrong_line_is_noticed():
    assert matches(["a", "…", "z"], ["a", "b", "c", "z"])
    assert matches(["ab …"], ["ab cd"])
    assert not matches(["a", "…", "z"], ["a", "b", "c", "y"])
    assert not matches(["a"], ["a", "b"])


def test_findings_are_named_as_the_audit_names_them():
    (table,) = re.findall(r"^\| where \| what \| `hsdp audit` \|\n\|[-|]+\n(.*?)\n\n", README, re.S | re.M)
    named = re.findall(r"\| `([^`]+)` \|$", table, re.M)
    assert len(named) == len(table.splitlines())
    assert set(named) <= parts_of_claims().keys()


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", README):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_every_command_is_named():
    for name in commands():
        assert f"hsdp {name}" in README, name
