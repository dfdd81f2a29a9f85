"""`hsdp completion`: a completion script for a shell, generated from the parsers of the commands."""

from __future__ import annotations

import argparse

from .common import Command

_BASH = """COMP_WORDBREAKS=${{COMP_WORDBREAKS//:}}  # labels have colons
_hsdp() {{
    local words
    case "${{COMP_WORDS[1]}}" in
{cases}
        *) words="{commands}" ;;
    esac
    [ "$COMP_CWORD" -eq 1 ] && words="{commands}"
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
    [ "${{#COMPREPLY[@]}}" -gt 0 ] || COMPREPLY=($(compgen -f -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o filenames -F _hsdp hsdp"""


def register(command: Command) -> None:
    completion = command("completion", _completion)
    completion.epilog = 'example: eval "$(hsdp completion bash)"; for fish: hsdp completion fish | source'
    completion.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="bash, zsh or fish")


def _completion(arguments: argparse.Namespace) -> int:
    from ..index import labels

    commands: dict[str, argparse.ArgumentParser] = arguments.commands()
    options = {
        name: [option for action in sub._actions for option in action.option_strings if option.startswith("--")]
        for name, sub in commands.items()
    }
    takes_label = {name for name, sub in commands.items() if any(action.metavar == "LABEL" for action in sub._actions)}
    if arguments.shell == "fish":
        print("complete -c hsdp -f -n __fish_use_subcommand -a '" + " ".join(options) + "'")
        for name, found in options.items():
            here = f"complete -c hsdp -n '__fish_seen_subcommand_from {name}'"
            print(*(f"{here} -l {option[2:]}" for option in found), sep="\n")
            if name in takes_label:
                print(f"{here} -a '{' '.join(labels())}'")
        return 0
    cases = [
        f'        {name}) words="{" ".join([*found, *(labels() if name in takes_label else ())])}" ;;'
        for name, found in options.items()
    ]
    if arguments.shell == "zsh":
        print("autoload -U +X bashcompinit && bashcompinit")
    print(_BASH.format(cases="\n".join(cases), commands=" ".join(options)))
    return 0
