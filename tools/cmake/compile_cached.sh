#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# compile_cached.sh CCACHE COMPILER ARGUMENT...
#
# A precompiled header that is made anew must not be there: ccache would take the old one for what goes in, in place of the headers
# that have changed, and give back whatever has been made over an equal one before.
set -eu
before=''
for word; do
  case "$before $word" in '-o '*.gch | '-o '*.pch) rm -f "$word" ;; esac
  before=$word
done
exec "$@"
