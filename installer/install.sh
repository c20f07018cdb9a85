#!/bin/sh
# Installs the sovereign appliance from this folder alone. Nothing is changed before everything is verified.
# Needs: a POSIX shell, coreutils, openssl 3. Compare this file's own SHA-256 with the one you were given on paper.
# usage: sh install.sh [--root DIR] [--name NAME] [--address IP] … ; all options: sh install.sh --help
set -eu
umask 022
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
key='@BUNDLE_PUBLIC_KEY_PEM_BASE64@'

refuse() {
  printf 'install.sh: refused: %s\n  what to do: %s\nNothing on this host was changed.\n' "$1" "$2" >&2
  exit 3
}
for tool in openssl sha256sum base64 mktemp cp chmod id; do
  command -v "$tool" >/dev/null 2>&1 || refuse "$tool is not on this host" "install coreutils and openssl 3, then run this again"
done
[ "$(id -u)" = 0 ] || refuse "this must run as root" "run it with sudo, or as root"

work=$(mktemp -d "${TMPDIR:-/tmp}/resontech-install.XXXXXX")
trap 'rm -rf "$work"' EXIT HUP INT TERM
printf '%s' "$key" | base64 -d >"$work/key.pem"
for file in boot.sums boot.sums.sig release.json; do
  [ -f "$here/$file" ] || refuse "$file is missing from this medium" "copy the whole bundle again"
done
openssl pkeyutl -verify -rawin -pubin -inkey "$work/key.pem" -in "$here/boot.sums" -sigfile "$here/boot.sums.sig" >/dev/null 2>&1 ||
  refuse "boot.sums: its signature in boot.sums.sig does not match the key in install.sh" "get the bundle again; if it persists, tell the vendor"

# Each line is "<sha256>  <path>": the runtime, the installer and the signed release, which names everything else.
node=
installer=
while read -r sum path; do
  case $path in
    release.json) file=$here/release.json ;;
    *) file=$here/blobs/sha256/$sum ;;
  esac
  shown=${file#"$here"/}
  [ -f "$file" ] || refuse "$shown is missing from this medium" "copy the whole bundle again"
  found=$(sha256sum "$file")
  [ "${found%% *}" = "$sum" ] || refuse "$shown ($path): its SHA-256 is ${found%% *}: the file is damaged or was changed" "copy the bundle again and compare it with its source"
  case $path in
    bin/node) node=$file ;;
    app/installer.mjs) installer=$file ;;
  esac
done <"$here/boot.sums"
[ -n "$node" ] && [ -n "$installer" ] || refuse "boot.sums names no runtime or no installer" "get the bundle again"

# The medium may be mounted noexec or without modes: the checked runtime then runs from a copy that goes with this script.
if ! "$node" --version >/dev/null 2>&1; then
  cp "$node" "$work/node"
  chmod 0700 "$work/node"
  "$work/node" --version >/dev/null 2>&1 || refuse "the checked runtime does not run from $work" "set TMPDIR to a folder that is not mounted noexec"
  node=$work/node
fi
cp "$installer" "$work/installer.mjs"
set +e
"$node" "$work/installer.mjs" install --bundle "$here" --key "$work/key.pem" "$@"
status=$?
exit "$status"
