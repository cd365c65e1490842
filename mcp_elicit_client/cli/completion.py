"""``mcp-elicit completion``: completion scripts for bash, zsh and fish, written from the parser."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from string import Template

_FILES = frozenset({"FILE", "JSON"})


@dataclass(frozen=True, slots=True)
class _Option:
    """An option of a command, with its help in one line.  Without choices, it takes any value."""

    names: tuple[str, ...]
    help: str
    choices: tuple[str, ...]
    takes_value: bool
    takes_file: bool


@dataclass(frozen=True, slots=True)
class _Command:
    """A command.  `next_words` are the commands below it, or the values of its argument, with their help."""

    words: tuple[str, ...]
    help: str
    options: tuple[_Option, ...]
    next_words: tuple[tuple[str, str], ...]
    takes_file: bool

    @property
    def name(self) -> str:
        """Its words, with spaces between them."""
        return " ".join(self.words)


def run_completion(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Print the script for a shell; return the exit status."""
    print(_SCRIPTS[options.shell](list(_commands(parser, (), ""))), end="")
    return 0


def _commands(parser: argparse.ArgumentParser, words: tuple[str, ...], help_text: str) -> Iterator[_Command]:
    """Yield the command of *parser* and those below it."""
    options: list[_Option] = []
    next_words: list[tuple[str, str]] = []
    below: list[tuple[str, argparse.ArgumentParser, str]] = []
    takes_file = False
    for action in parser._actions:  # noqa: SLF001 -- argparse has no public way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            helps = {each.dest: each.help or "" for each in action._choices_actions}  # noqa: SLF001
            below = [(name, each, helps.get(name, "")) for name, each in action.choices.items()]
            next_words += [(name, text) for name, _, text in below]
        elif action.option_strings:
            options.append(_option(action))
        else:
            next_words += [(str(each), "") for each in action.choices or ()]
            takes_file = takes_file or action.metavar in _FILES
    yield _Command(words, help_text, tuple(options), tuple(next_words), takes_file)
    for name, each, text in below:
        yield from _commands(each, (*words, name), text)


def _option(action: argparse.Action) -> _Option:
    return _Option(
        tuple(action.option_strings),
        " ".join((action.help or "").replace("%%", "%").split()),
        tuple(map(str, action.choices or ())),
        takes_value=action.nargs != 0,
        takes_file=action.metavar in _FILES,
    )


# --- bash

_BASH = Template("""\
_mcp_elicit_files() {
    local IFS=$$'\\n'
    COMPREPLY+=($$(compgen -f -- "$$cur"))
    compopt -o filenames 2>/dev/null
}
_mcp_elicit() {
    local cur=$${COMP_WORDS[COMP_CWORD]} prev=$${COMP_WORDS[COMP_CWORD-1]} command= word i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=$${COMP_WORDS[i]}
        if [[ $$word == -- ]]; then
            COMPREPLY=($$(compgen -c -- "$$cur"))
            return
        fi
        case "$$command $$word" in
$selects
        esac
    done
    case "$$command $$prev" in
$values
    esac
    case "$$command" in
$commands
    esac
}
complete -F _mcp_elicit mcp-elicit
""")


def _selects(commands: list[_Command]) -> str:
    """Return the cases for bash and zsh that go on from a command and a word to the command below it."""
    return "\n".join(
        f"            '{' '.join(each.words[:-1])} {each.words[-1]}') command='{each.name}' ;;"
        for each in commands
        if each.words
    )


def _bash(commands: list[_Command]) -> str:
    values, cases = [], []
    for each in commands:
        for option in each.options:
            if option.takes_value:
                patterns = "|".join(f"'{each.name} {spelled}'" for spelled in option.names)
                values.append(f"        {patterns}) {_bash_values(option)}; return ;;")
        words = " ".join([*(word for word, _ in each.next_words), *(name for o in each.options for name in o.names)])
        files = " _mcp_elicit_files;" if each.takes_file else ""
        cases.append(f"""        '{each.name}') COMPREPLY=($(compgen -W "{words}" -- "$cur"));{files} ;;""")
    return _BASH.substitute(selects=_selects(commands), values="\n".join(values), commands="\n".join(cases))


def _bash_values(option: _Option) -> str:
    if option.choices:
        return f'COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$cur"))'
    return "_mcp_elicit_files" if option.takes_file else ":"


# --- zsh

_ZSH = Template("""\
#compdef mcp-elicit
_mcp_elicit() {
    local command= word
    local -a rest
    integer i
    for ((i = 2; i < CURRENT; i++)); do
        word=$$words[i]
        if [[ $$word == -- ]]; then
            _command_names
            return
        fi
        case "$$command $$word" in
$selects
        esac
    done
    case "$$command" in
$commands
    esac
}
compdef _mcp_elicit mcp-elicit
""")


def _zsh(commands: list[_Command]) -> str:
    cases = []
    for each in commands:
        specifications = [_zsh_option(option, spelled) for option in each.options for spelled in option.names]
        depth = len(each.words)
        if each.next_words:
            words = " ".join(word + (f"\\:{_zsh_text(text)}" if text else "") for word, text in each.next_words)
            specifications.append(f"'*:::word:(({words}))'" if not depth else f"'*:word:(({words}))'")
        elif each.takes_file:
            specifications.append("'*:file:_files'")
        else:  # without it, no options would be completed after an argument
            specifications.append("'*: :()'")
        # The words of the command itself are removed, so that options and values are counted from there.
        shift = f"shift {depth} words; (( CURRENT -= {depth} )); " if depth else ""
        cases.append(f"        '{each.name}') {shift}_arguments {' '.join(specifications)} ;;")
    return _ZSH.substitute(selects=_selects(commands), commands="\n".join(cases))


def _zsh_option(option: _Option, name: str) -> str:
    value = ""
    if option.choices:
        value = f":value:({' '.join(option.choices)})"
    elif option.takes_value:
        value = f":value:{'_files' if option.takes_file else ' '}"
    return f"'{name}[{_zsh_text(option.help)}]{value}'"


def _zsh_text(text: str) -> str:
    """Return *text* for a specification in single quotation marks."""
    return re.sub(r"([\[\]:()\\ ])", r"\\\1", text.replace("'", "`"))


# --- fish


def _fish(commands: list[_Command]) -> str:
    below: Mapping[tuple[str, ...], tuple[str, ...]] = {
        each.words: tuple(word for word, _ in each.next_words) for each in commands
    }
    lines = ["complete -c mcp-elicit -f"]
    for each in commands:
        seen = [f"__fish_seen_subcommand_from {word}" for word in each.words]
        if below[each.words]:
            unseen = f"not __fish_seen_subcommand_from {' '.join(below[each.words])}"
            lines += [_fish_line([*seen, unseen], f"-a {word}", text) for word, text in each.next_words]
        if each.takes_file:
            lines.append(_fish_line(seen, "-F", ""))
        conditions = seen or ["__fish_use_subcommand"]
        lines += [_fish_option(conditions, option) for option in each.options]
    return "\n".join(lines) + "\n"


def _fish_option(conditions: list[str], option: _Option) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    if option.choices:
        names += f" -x -a '{' '.join(option.choices)}'"
    elif option.takes_value:
        names += " -r -F" if option.takes_file else " -x"
    return _fish_line(conditions, names, option.help)


def _fish_line(conditions: list[str], what: str, text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    described = f" -d '{quoted}'" if text else ""
    return f"complete -c mcp-elicit -n '{'; and '.join(conditions)}' {what}{described}"


_SCRIPTS: Mapping[str, Callable[[list[_Command]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}

SHELLS: tuple[str, ...] = tuple(_SCRIPTS)
"""The shells that have a completion script."""
