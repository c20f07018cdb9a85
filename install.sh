#!/bin/sh
# Installs the sovereign appliance from this folder alone. Nothing is changed before everything is verified.
# Needs: a POSIX shell and coreutils. Compare this file's own SHA-256 with the one you were given on paper.
# usage: sh install.sh [--root DIR] [--name NAME] [--address IP] … ; all options: sh install.sh --help
#        sh install.sh resume|uninstall [--root DIR]: for an install that was broken off before it had its own command
set -eu
umask 022
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
key='@BUNDLE_PUBLIC_KEY_PEM_BASE64@'
verifier_sum='@VERIFIER_SHA256@'

# A bundle carries its key; the source has none.
case $key in
  @*)
    printf 'install.sh: this is the source, and no bundle lies beside it\n  what to do: build one with `npm run airgap -- build --out DIR`, then run `sh DIR/install.sh`; `npm run try` does both\n' >&2
    exit 2
    ;;
esac

refuse() {
  printf 'install.sh: refused: %s\n  what to do: %s\nNothing on this host was changed.\n' "$1" "$2" >&2
  exit 3
}
for tool in sha256sum base64 mktemp cp mv chmod id cat date dirname mkdir rm rmdir sync uname; do
  command -v "$tool" >/dev/null 2>&1 || refuse "$tool is not on this host" "install coreutils, then run this again"
done
[ "$(id -u)" = 0 ] || refuse "this must run as root" "run it with sudo, or as root"
[ "$(uname -m)" = x86_64 ] || refuse "this host is $(uname -m)" "use a 64-bit x86 host: everything in this bundle is made for one"

work=$(mktemp -d "${TMPDIR:-/tmp}/resontech-install.XXXXXX")
place=
clean() {
  rm -rf "$work"
  [ -z "$place" ] || rm -rf "$place"
}
trap clean EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
printf '%s' "$key" | base64 -d >"$work/key.pem"
for file in boot.sums boot.sums.sig release.json; do
  [ -f "$here/$file" ] || refuse "$file is missing from this medium" "copy the whole bundle again"
done

# check FILE SUM SHOWN: what is executed is what was hashed, so a copy is hashed and not its source.
check() {
  found=$(sha256sum "$1")
  [ "${found%% *}" = "$2" ] ||
    refuse "$3: its SHA-256 is ${found%% *}: the file is damaged or was changed" "copy the bundle again and compare it with its source"
}

# Sets `verifier`: a copy of ours that may run. A folder for temporary files may be mounted noexec.
place_verifier() {
  blob=blobs/sha256/$verifier_sum
  [ -f "$here/$blob" ] || refuse "$blob (engines/rt-verify) is missing from this medium" "copy the whole bundle again"
  for folder in "$work" /run /var/tmp /dev/shm; do
    place=$(mktemp -d "$folder/resontech-verify.XXXXXX" 2>/dev/null) || continue
    verifier=$place/rt-verify
    cp "$here/$blob" "$verifier"
    check "$verifier" "$verifier_sum" "$blob (engines/rt-verify)"
    chmod 0700 "$verifier"
    ! "$verifier" --version >/dev/null 2>&1 || return 0
    rm -rf "$place"
  done
  place=
  refuse "rt-verify, which checks signatures, may not run in $work, /run, /var/tmp or /dev/shm" "install openssl 3, or set TMPDIR to a folder that is not mounted noexec"
}
# The host's openssl from version 3 checks Ed25519 signatures of files. In its absence ours does, which is known by its SHA-256.
signed=yes
found_openssl=$(openssl version 2>/dev/null) || found_openssl='no openssl'
case $found_openssl in
  'OpenSSL 3.'* | 'OpenSSL '[4-9].*)
    checked_by="the host's $found_openssl"
    openssl pkeyutl -verify -rawin -pubin -inkey "$work/key.pem" -in "$here/boot.sums" -sigfile "$here/boot.sums.sig" >/dev/null 2>&1 || signed=no
    ;;
  *)
    [ -n "$verifier_sum" ] || refuse "this host has $found_openssl, which can't check Ed25519 signatures of files" "install openssl 3"
    place_verifier
    checked_by="rt-verify of this bundle (this host has $found_openssl)"
    "$verifier" "$work/key.pem" "$here/boot.sums" "$here/boot.sums.sig" || signed=no
    ;;
esac
[ "$signed" = yes ] ||
  refuse "boot.sums: its signature in boot.sums.sig does not match the key in install.sh" "get the bundle again; if it persists, tell the vendor"

printf "boot.sums: the vendor's signature is right, by %s\n" "$checked_by" >&2

# Each line is "<sha256>  <path>": the runtime, its libraries, the installer and the signed release, which names everything else.
node=
libraries=
node_sum=
installer=
while read -r sum path; do
  case $path in
    release.json) file=release.json ;;
    *) file=blobs/sha256/$sum ;;
  esac
  [ -f "$here/$file" ] || refuse "$file ($path) is missing from this medium" "copy the whole bundle again"
  case $path in
    app/installer.mjs)
      installer=$work/installer.mjs
      cp "$here/$file" "$installer"
      check "$installer" "$sum" "$file ($path)"
      ;;
    bin/node)
      node=$here/$file
      node_sum=$sum
      check "$node" "$sum" "$file ($path)"
      ;;
    lib/*)
      libraries="$libraries $sum"
      check "$here/$file" "$sum" "$file ($path)"
      ;;
    *) check "$here/$file" "$sum" "$file" ;;
  esac
done <"$here/boot.sums"
[ -n "$node" ] && [ -n "$installer" ] || refuse "boot.sums names no runtime or no installer" "get the bundle again"

# why_not MESSAGE: refuses for what another place for the runtime would not change.
why_not() {
  case $1 in
    *'error while loading shared libraries: '*)
      library=${1#*error while loading shared libraries: }
      refuse "this host lacks ${library%%:*}, which the runtime needs" \
        "install the package that has it (for libstdc++.so.6: libstdc++6 on Debian and Ubuntu, libstdc++ on others), then run this again"
      ;;
    *"version \`GLIBC_"*"' not found"* | *"version \`GLIBCXX_"*"' not found"* | *"version \`CXXABI_"*"' not found"*)
      wanted=${1#*version \`}
      refuse "this host's C library is too old: the runtime needs ${wanted%%\'*}" "use a host with glibc 2.28 and GCC 8's libstdc++, or newer"
      ;;
  esac
  [ -e /lib64/ld-linux-x86-64.so.2 ] ||
    refuse "this host has no glibc: /lib64/ld-linux-x86-64.so.2 is missing" "use a host with glibc 2.28 or newer, not one with musl"
}
# A medium that is mounted noexec, or keeps no modes: the checked runtime runs from below the install root. It is the first journaled step,
# and what it made is taken back here unless the install went on to begin.
if ! said=$("$node" --version 2>&1 >/dev/null); then
  why_not "$said"
  root=/opt/resontech
  previous=
  for argument; do
    case $previous in --root) root=$argument ;; esac
    case $argument in --root=*) root=${argument#--root=} ;; esac
    previous=$argument
  done
  case $root in
    *[!A-Za-z0-9._/-]* | [!/]*) refuse "--root $root: it must be an absolute path of letters, digits and . _ - /" "choose another --root" ;;
  esac
  journal=$root/journal/journal.jsonl
  # As the installer makes it (root-folder.ts): folders appear by one rename, with a ledger that names them, the outermost first.
  made=
  named=
  top=
  folder=$root
  while [ ! -d "$folder" ]; do
    made="$made $folder"
    named="$folder $named"
    top=$folder
    folder=$(dirname "$folder")
  done
  part=$top.resontech-part
  into=$root
  [ -z "$top" ] || into=$part${root#"$top"}
  known=no
  [ ! -f "$journal" ] || known=yes
  clean() {
    rm -rf "$work" "$root/boot"
    [ -z "$place" ] || rm -rf "$place"
    [ -z "$top" ] || rm -rf "$part"
    [ "$known" = no ] || return 0
    case $(cat "$journal" 2>/dev/null) in *'"kind":"begin"'*) return 0 ;; esac
    rm -f "$journal"
    for folder in "$root/journal" $made; do rmdir "$folder" 2>/dev/null || :; done
  }
  [ -z "$top" ] || rm -rf "$part"
  mkdir -p "$into/journal" "$into/boot"
  chmod 0700 "$into/journal"
  now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  for folder in $named; do printf '{"kind":"owns","what":"folder","path":"%s","at":"%s"}\n' "$folder" "$now"; done >>"$into/journal/journal.jsonl"
  printf '{"kind":"step","step":"boot","state":"started","at":"%s"}\n' "$now" >>"$into/journal/journal.jsonl"
  sync "$into/journal/journal.jsonl" "$into/journal" "$into"
  [ -z "$top" ] || mv "$part" "$top"
  cp "$node" "$root/boot/node"
  node=$root/boot/node
  check "$node" "$node_sum" "$node"
  chmod 0700 "$node"
  for sum in $libraries; do
    cp "$here/blobs/sha256/$sum" "$root/boot/$sum"
    check "$root/boot/$sum" "$sum" "$root/boot/$sum"
  done
  if ! said=$("$node" --version 2>&1 >/dev/null); then
    why_not "$said"
    refuse "the checked runtime runs neither from this medium nor from $root: $said" "choose a --root that is not mounted noexec"
  fi
fi
verb=install
case ${1:-} in
  resume | uninstall)
    verb=$1
    shift
    ;;
esac
[ "$verb" = uninstall ] || set -- --bundle "$here" "$@"
[ "$verb" != install ] || set -- --key "$work/key.pem" "$@"
set +e
"$node" "$installer" "$verb" "$@"
exit $?
