#!/bin/sh
# held_out.sh DIR PACKAGE...: the music of Debian packages, also what lies in their ZIP files, and
# eight voices of espeak-ng that read changelogs, for audio_recall and its like.
set -eu
[ $# -ge 2 ] || { echo "usage: held_out.sh DIR PACKAGE..." >&2; exit 2; }
mkdir -p "$1" && cd "$1"
shift

take_package() {
    mkdir -p "$1/unpacked" && cd "$1"
    apt-get -q download "$1"
    dpkg-deb -x ./*.deb unpacked && rm ./*.deb
    find unpacked -type f \( -name '*.pk3' -o -name '*.zip' \) -exec unzip -qo {} -d unpacked \;
    find unpacked -type f ! -name '*.ogg' ! -name '*.opus' ! -name '*.mp3' ! -path '*/music/*' \
        -delete
    find unpacked -type f -size -250k -delete
    find unpacked -type l -delete
    cd ..
}

# Changelogs long enough for five minutes.
changelogs() {
    find /usr/share/doc -name changelog.Debian.gz -size +6k | sort
}

take_voice() {
    zcat "$(changelogs | sed -n "$2p")" | tr -cs 'A-Za-z.,\n' ' ' | head -c 5000 |
        espeak-ng -v "$1" -w "speech_$1.wav" --stdin
}

for package; do
    take_package "$package"
done
number=0
for voice in en-us+f2 en-gb+m3 de+f4 fr+m1 es+f1 it+m5 pt+m7 pl+f3; do
    number=$((number + 1))
    take_voice "$voice" "$number"
done
