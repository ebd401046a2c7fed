#!/bin/sh
# The static library of all modules: one relocatable object of them, in which only what is named
# doppel_* is global. archive.sh OUTPUT LD OBJCOPY AR ARCHIVE...
set -eu
output=$1 ld=$2 objcopy=$3 ar=$4
shift 4
object=${output%.a}.o
trap 'rm -f "$object"' EXIT
# Without groups: a name of C++ that is made local is not shared with other programs' copies.
"$ld" -r --force-group-allocation -o "$object" --whole-archive "$@"
"$objcopy" --wildcard --keep-global-symbol='doppel_*' "$object"
rm -f "$output"
"$ar" rcsD "$output" "$object"
