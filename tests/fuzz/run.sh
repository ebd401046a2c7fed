#!/bin/bash
# The fuzzers of libFuzzer, one after the other, each for its part of the time. Corpora are kept
# from run to run, and made smaller after each: to the inputs that reach something of their own.
#
#   tests/fuzz/run.sh MINUTES [FOLDER [TARGET...]]
#
# FOLDER (build-fuzz/corpora) has a corpus a target, `found/` with what made one fail, and
# `cpu-seconds/` with what each has used in all. A target's coverage (edges of our code that its
# corpus reaches) is printed, and must not be below its line in tests/fuzz/floors, which is what the
# seeds alone reach; 0 MINUTES tells that. Exit code 1: something was found, or a floor was missed.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
minutes=$1 folder=${2:-$top/build-fuzz/corpora}
shift $(($# < 2 ? $# : 2))
build=$top/build-fuzz
floors=$top/tests/fuzz/floors
export ASAN_OPTIONS=allocator_may_return_null=1
export LSAN_OPTIONS=suppressions=$top/tests/leaks.supp:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1

build_targets() {
    if [ ! -e "$build/build.ninja" ]; then
        lean='-g1 -fno-sanitize-recover=all'
        CC=${CC:-clang} CXX=${CXX:-clang++} meson setup "$build" "$top" \
            --buildtype=debugoptimized -Dtests=true -Dfuzz=true -Dbench=disabled \
            -Db_sanitize=address,undefined -Db_lundef=false "-Dc_args=$lean" "-Dcpp_args=$lean"
    fi >&2
    ninja --quiet -C "$build" "${targets[@]/#/tests/fuzz/fuzz-}" \
        "${targets[@]/#/tests/fuzz/fuzz-smoke-}"
}

# fuzz TARGET OPTION...: with what every call of libFuzzer has; what it says goes to its log.
fuzz() {
    local target=$1
    shift
    "$build/tests/fuzz/fuzz-$target" -timeout=300 -rss_limit_mb=3000 -max_len=100000 \
        -dict="$top/tests/fuzz/dictionaries/$target.dict" \
        -artifact_prefix="$folder/found/$target-" "$@" >>"$folder/logs/$target" 2>&1
}

# Fuzzes a target, and adds the time of its own to that of its earlier runs.
fuzz_for() {
    local target=$1 sum=$folder/cpu-seconds/$1 status=0 TIMEFORMAT=%U
    shift
    { time fuzz "$target" -max_total_time="$seconds" "$@"; } 2>"$folder/time" || status=1
    cat "$folder/time" >>"$sum"
    awk '{ sum += $1 } END { print sum }' "$sum" >"$folder/time"
    mv "$folder/time" "$sum"
    return $status
}

run_target() {
    local target=$1 corpus=$folder/$1 seeds=$folder/seeds/$1 status=0
    rm -rf "$seeds" "$corpus.less"
    mkdir -p "$corpus" "$corpus.less" "$seeds"
    "$build/tests/fuzz/fuzz-smoke-$target" --seeds "$seeds" >/dev/null 2>&1
    : >"$folder/logs/$target"
    [ "$seconds" -eq 0 ] || fuzz_for "$target" "$corpus" "$seeds" || status=1
    fuzz "$target" -merge=1 "$corpus.less" "$corpus" "$seeds" || status=1
    rm -rf "$corpus"
    mv "$corpus.less" "$corpus"
    tell_coverage "$target" || status=1
    return $status
}

tell_coverage() {
    local target=$1 floor edges
    fuzz "$target" -runs=0 "$folder/$target" || return 1
    edges=$(grep -o 'cov: [0-9]*' "$folder/logs/$target" | tail -1 | cut -d ' ' -f 2)
    floor=$(awk -v target="$target" '$1 == target { print $2 }' "$floors")
    printf '%-10s %6s edges (floor %5s), %5s inputs, %7s s in all\n' "$target" "$edges" \
        "${floor:-none}" "$(find "$folder/$target" -type f | wc -l)" \
        "$(cat "$folder/cpu-seconds/$target" 2>/dev/null || echo 0)"
    [ "${edges:-0}" -ge "${floor:-0}" ]
}

mapfile -t targets < <(awk '/^[a-z]/ { print $1 }' "$floors")
[ $# -eq 0 ] || targets=("$@")
seconds=$((minutes * 60 / ${#targets[@]}))
mkdir -p "$folder"/{found,logs,seeds,cpu-seconds}
build_targets
failed=0
for target in "${targets[@]}"; do
    run_target "$target" || { echo "$target: look into $folder/logs/$target" && failed=1; }
done
found=$(find "$folder/found" -type f | wc -l)
[ "$found" -eq 0 ] || { echo "found: $found, in $folder/found" && failed=1; }
exit $failed
