#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# Makes the manual pages of a program from what its --help says: one of the program, and one of each of its commands.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: tools/manual_pages.sh HELP2MAN VERSION SENTENCE PROGRAM FOLDER

Writes FOLDER/PROGRAM.1, and FOLDER/PROGRAM-COMMAND.1 for each command that PROGRAM --help names: in the list
`Subcommands:`, or as `PROGRAM COMMAND`.

example: tools/manual_pages.sh help2man 0.1.0 "judge captured iWARP traffic" build/dev/dissectors/lint/rnic-lint build/dev/man/rnic-lint
exit: 0 done, 1 help2man failed, 2 usage
USAGE
}
[ "${1:-}" != --help ] || { usage; exit 0; }
[ $# = 5 ] || { usage >&2; exit 2; }
help2man=$1 version=$2 sentence=$3 program=$4 folder=$5
name=${program##*/}

rm -rf "$folder" && mkdir -p "$folder"
page() { # page NAME SENTENCE HELP_OPTION
  "$help2man" --no-info --version-string "$version" --name "$2" --help-option "$3" "$program" |
    sed "s/^\.TH ${name^^} /.TH ${1^^} /; s/^$name \\\\- /$1 \\\\- /" >"$folder/$1.1"
}
page "$name" "$sentence" --help
help=$("$program" --help)
listed() { sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\)  *\(.*\)/\1 \2/p' <<<"$help"; }
mentioned() {
  { grep -oE "\`$name [a-z-]+\`" <<<"$help" || true; } | tr -d '`' | while read -r _ command; do
    what=$("$program" "$command" --help | sed -n 's/\.$//; 1p')
    echo "$command ${what,}"
  done
}
{ listed; mentioned; } | while read -r command what; do page "$name-$command" "$what" "$command --help"; done
