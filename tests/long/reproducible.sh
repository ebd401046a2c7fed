#!/bin/sh
# The committed sources built and packed twice, from two folders, one after the other, by other
# clocks' zones, languages, orders and masks of permissions: all that is installed, and the archive
# of `meson dist`, must be the same byte for byte. Takes two whole builds.
#
#   tests/long/reproducible.sh [FOLDER]   FOLDER is made, and removed when all is equal
set -eu

top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
work=${1:-$(mktemp -d "${TMPDIR:-/tmp}/doppel-reproducible.XXXXXX")}
commit=$(git -C "$top" rev-parse HEAD)
export CCACHE_DISABLE=1

# build_in FOLDER JOBS BUILD NAME: sources at FOLDER, built in its BUILD; $work/installed-NAME.
build_in() {
    git clone -q --no-hardlinks "$top" "$1"
    git -C "$1" checkout -q "$commit"
    meson setup "$1/$3" "$1" -Dtests=false -Dbench=disabled >"$work/log"
    ninja --quiet -C "$1/$3" -j "$2" >"$work/log"
    DESTDIR="$work/installed-$4" meson install -C "$1/$3" --no-rebuild --quiet
    meson dist -C "$1/$3" --no-tests --formats xztar >"$work/log"
    mv "$1/$3"/meson-dist/*.tar.xz "$work/sources-$4.tar.xz"
}

mkdir -p "$work"
(umask 022 && LC_ALL=C TZ=UTC build_in "$work/a" 1 build first)
(umask 027 && LC_ALL=C.UTF-8 TZ=Asia/Tokyo build_in "$work/another name/of/b" 3 release/out second)
failed=0
diff -r --no-dereference "$work/installed-first" "$work/installed-second" || failed=1
cmp "$work/sources-first.tar.xz" "$work/sources-second.tar.xz" || failed=1
count=$(find "$work/installed-first" -type f | wc -l)
if [ "$failed" -eq 0 ]; then
    echo "$count installed files and the archive of sources are equal"
    rm -rf "$work"
else
    echo "not equal: look into $work" >&2
fi
exit "$failed"
