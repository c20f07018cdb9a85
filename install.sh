#!/bin/sh
# Installs the sovereign appliance from this folder alone. Nothing is changed before everything is verified.
# Needs: a POSIX shell, coreutils, openssl 3. Compare this file's own SHA-256 with the one you were given on paper.
# usage: sh install.sh [--root DIR] [--name NAME] [--address IP] … ; all options: sh install.sh --help
#        sh install.sh resume|uninstall [--root DIR]: for an install that was broken off before it had its own command
set -eu
umask 022
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
key='@BUNDLE_PUBLIC_KEY_PEM_BASE64@'

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
for tool in openssl sha256sum base64 mktemp cp mv chmod id cat date dirname mkdir rm rmdir sync; do
  command -v "$tool" >/dev/null 2>&1 || refuse "$tool is not on this host" "install coreutils and openssl 3, then run this again"
done
[ "$(id -u)" = 0 ] || refuse "this must run as root" "run it with sudo, or as root"
case $(openssl version) in
  'OpenSSL 3.'* | 'OpenSSL '[4-9].*) ;;
  *) refuse "$(openssl version) can't check Ed25519 signatures of files" "install openssl 3" ;;
esac

work=$(mktemp -d "${TMPDIR:-/tmp}/resontech-install.XXXXXX")
clean() { rm -rf "$work"; }
trap clean EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
printf '%s' "$key" | base64 -d >"$work/key.pem"
for file in boot.sums boot.sums.sig release.json; do
  [ -f "$here/$file" ] || refuse "$file is missing from this medium" "copy the whole bundle again"
done
openssl pkeyutl -verify -rawin -pubin -inkey "$work/key.pem" -in "$here/boot.sums" -sigfile "$here/boot.sums.sig" >/dev/null 2>&1 ||
  refuse "boot.sums: its signature in boot.sums.sig does not match the key in install.sh" "get the bundle again; if it persists, tell the vendor"

# check FILE SUM SHOWN: what is executed is what was hashed, so a copy is hashed and not its source.
check() {
  found=$(sha256sum "$1")
  [ "${found%% *}" = "$2" ] ||
    refuse "$3: its SHA-256 is ${found%% *}: the file is damaged or was changed" "copy the bundle again and compare it with its source"
}
# Each line is "<sha256>  <path>": the runtime, the installer and the signed release, which names everything else.
node=
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
    *) check "$here/$file" "$sum" "$file" ;;
  esac
done <"$here/boot.sums"
[ -n "$node" ] && [ -n "$installer" ] || refuse "boot.sums names no runtime or no installer" "get the bundle again"

# A medium that is mounted noexec, or keeps no modes: the checked runtime runs from below the install root. It is the first journaled step,
# and what it made is taken back here unless the install went on to begin.
if ! "$node" --version >/dev/null 2>&1; then
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
  "$node" --version >/dev/null 2>&1 ||
    refuse "the checked runtime runs neither from this medium nor from $root" "choose a --root that is not mounted noexec, on a host with glibc 2.28 or newer"
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
