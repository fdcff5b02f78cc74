# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Bash completion of rnic-suite, rnic-plugfest, rnic-lint, rnic-scrub, rnic-run, rnic-self-test, rnic-lab, rnic-await-agent, rnic-agent
# and rnic-dat-cases. Commands and options are read from --help, cases, rules and lawful variants from the programs' own lists, so that
# nothing is repeated here.

# The commands of a program, or the options of one of its commands.
_rnic_commands() { "$1" --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'; }
_rnic_options() { "$@" --help 2>/dev/null | grep -aoE -- '(^|[ ,])--[a-z][a-z-]*' | tr -d ' ,' | sort -u; }

# What may follow an option, one word a line; status 1 if it is not from a list.
_rnic_values() {
  case "$1" in
    --select) rnic-suite list --long 2>/dev/null | cut -d' ' -f1 ;;
    --rule) rnic-suite coverage --rules 2>/dev/null | grep -oE '^ *[a-z]+(\.[a-z0-9-]+)+' | tr -d ' ' ;;
    --lawful | --variant) rnic-self-test --list-lawful 2>/dev/null | cut -d' ' -f1 ;;
    --iut) printf '%s\n' reference agent:reference agent: siw-vm verbs: verbs:reference kverbs: kverbs:siw-vm kverbs:rxe-vm dat: dat:reference dat:siw-vm dat:rxe-vm kdat: kdat:siw-vm kdat:rxe-vm ;;
    --link) printf '%s\n' tcp memory ;;
    --engine) printf '%s\n' local slurm ;;
    --rfc) printf '%s\n' 5040 5041 5042 5043 5044 6581 7306 ;;
    *) return 1 ;;
  esac
}

_rnic_complete() {
  local program=$1 current previous word command=()
  # `agent:` and `dat:` are parts of a word here, as colons are not for bash.
  if declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref -n : -c current -p previous
  else
    current=$2 previous=$3
  fi
  mapfile -t command < <(_rnic_commands "$program" | grep -Fx -f <(printf '%s\n' "${COMP_WORDS[@]:1:COMP_CWORD-1}") | head -n 1)
  local words
  if words=$(_rnic_values "$previous"); then
    [ "$previous" != --select ] || [ "$program" != rnic-plugfest ] || words=
  elif [[ $current == -* ]]; then
    words=$(_rnic_options "$program" "${command[@]}")
  elif [ "${command[0]:-}" = explain ]; then
    words=$(_rnic_values --rule; _rnic_values --select)
  elif [ ${#command[@]} = 0 ]; then
    words=$(_rnic_commands "$program")
  fi
  mapfile -t COMPREPLY < <(compgen -W "${words:-}" -- "$current")
  # Nothing of ours fits: a file, perhaps.
  [ ${#COMPREPLY[@]} -gt 0 ] || compopt -o default
  if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "$current"; fi
}
complete -F _rnic_complete rnic-suite rnic-plugfest rnic-lint rnic-scrub rnic-run rnic-self-test rnic-lab rnic-await-agent rnic-agent rnic-dat-cases
