#!/bin/sh
# Makes this host a node of an appliance. Nothing that was fetched is run, and nothing on this host is changed, before it is verified.
# `appliance node add NAME` prints the command that fetches this script, compares its SHA-256 and runs it; it may be run again at any time.
# Needs: a POSIX shell, coreutils, and curl or wget where the files don't lie beside this script.
# usage: sh join-node.sh [--root DIR] [--token-file FILE] …; all options: sh join-node.sh --help
#        sh join-node.sh --leave [--root DIR] [--yes]: takes away all that joining made
set -eu
umask 022
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
verifier_sum='@VERIFIER_SHA256@'
# A release carries the sum of its verifier; the source has none.
case $verifier_sum in
  @*)
    printf 'join-node.sh: this is the source\n  what to do: run the command that `appliance node add NAME` prints\n' >&2
    exit 2
    ;;
esac

refuse() {
  printf 'join-node.sh: refused: %s\n  what to do: %s\n' "$1" "$2" >&2
  exit 3
}
help() {
  cat <<'END'
usage: sh join-node.sh [options]; `appliance node add NAME` prints the whole command

  --root DIR             where the node is installed (default: /opt/resontech-node)
  --instance SLUG        name of this install on this host (default: node)
  --address IP           where other nodes reach this host (default: its address towards the appliance)
  --engine ENGINE        podman or docker (default: podman)
  --cpu-workers N        slots of a host without an accelerator (default: one per core)
  --job-ports FROM-TO    ports for jobs over several nodes (default: 29000-29099)
  --job-uids FROM-TO     numeric users of jobs (default: 1900000000-1900065535)
  --token-file FILE      file with the join token, - for standard input; asked for unless given
  --dry-run              verify and look at the host, change nothing
  --json                 end with one JSON line
  --leave [--yes]        take away all that joining made

The command gives: --appliance NAME --ports API,S3,REGISTRY,NATS --node NODE --root-sha256 HEX --key-sha256 HEX
Exit codes: 0 done, 1 failed (run it again to go on), 2 wrong usage, 3 refused, 4 joined without a good worker.
END
}
for argument; do
  case $argument in
    -h | --help)
      help
      exit 0
      ;;
  esac
done
for tool in cat wc sha256sum mktemp cp mv chmod id dirname mkdir rm uname; do
  command -v "$tool" >/dev/null 2>&1 || refuse "$tool is not on this host" "install coreutils, then run this again"
done
[ "$(id -u)" = 0 ] || refuse "this must run as root" "run the same command with sudo, or as root"
[ "$(uname -m)" = x86_64 ] || refuse "this host is $(uname -m)" "use a 64-bit x86 host: everything in the release is made for one"

appliance=
ports=
root_sum=
key_sum=
root=/opt/resontech-node
verb=join
yes=
previous=
for argument; do
  case $argument in
    --*=*)
      name=${argument%%=*}
      value=${argument#*=}
      ;;
    *)
      name=$previous
      value=$argument
      ;;
  esac
  previous=$argument
  case $name in
    --appliance) appliance=$value ;;
    --ports) ports=$value ;;
    --root-sha256) root_sum=$value ;;
    --key-sha256) key_sum=$value ;;
    --root) root=$value ;;
  esac
  case $argument in
    --leave) verb=leave ;;
    --yes) yes=--yes ;;
  esac
done
[ "$verb" = join ] || [ ! -x "$root/leave" ] || exec "$root/leave" $yes

is_sum() {
  case $1 in *[!0-9a-f]* | '') return 1 ;; esac
  [ "${#1}" = 64 ]
}
is_sum "$root_sum" && is_sum "$key_sum" ||
  refuse "no fingerprint to verify the appliance by" "run the whole command that \`appliance node add NAME\` prints"

work=
for folder in "${TMPDIR:-/tmp}" /run /var/tmp /dev/shm; do
  # What one that was killed left: its number is in the name, and nobody has it any more.
  for old in "$folder"/resontech-join.*.??????; do
    number=${old#"$folder"/resontech-join.}
    number=${number%.*}
    case $number in '' | *[!0-9]*) continue ;; esac
    # One that ended and that nobody has waited for has no arguments any more.
    [ "$({ wc -c <"/proc/$number/cmdline"; } 2>/dev/null || echo 0)" != 0 ] || rm -rf "$old"
  done
  work=$(mktemp -d "$folder/resontech-join.$$.XXXXXX" 2>/dev/null) || continue
  printf '#!/bin/sh\n' >"$work/probe"
  chmod 0700 "$work/probe"
  # A folder for temporary files may be mounted noexec.
  ! "$work/probe" 2>/dev/null || break
  rm -rf "$work"
  work=
done
[ -n "$work" ] || refuse "no program may run in ${TMPDIR:-/tmp}, /run, /var/tmp or /dev/shm" "set TMPDIR to a folder that is not mounted noexec"
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# check FILE SUM SHOWN: what is executed is what was hashed, so a copy is hashed and not its source.
check() {
  found=$(sha256sum "$1")
  [ "${found%% *}" = "$2" ] ||
    refuse "$3: its SHA-256 is ${found%% *}, and should be $2" "run \`appliance node add NAME\` again, and compare both fingerprints with what it prints"
}
source=https://$appliance:${ports%%,*}/node/v1
[ ! -f "$here/boot.sums" ] || source=$here
# get NAME TO
get() {
  case $source in
    https://*)
      # The appliance is inside the perimeter: no proxy leads to it.
      if command -v curl >/dev/null 2>&1; then
        curl -fsS --noproxy '*' --connect-timeout 20 --cacert "$work/root.crt" -o "$2" "$source/$1"
      elif command -v wget >/dev/null 2>&1; then
        wget -q --no-proxy --timeout=20 "--ca-certificate=$work/root.crt" -O "$2" "$source/$1"
      else
        refuse "neither curl nor wget is on this host" "install one of the two, or carry the node's files by medium: appliance node add NAME --out DIR"
      fi || refuse "$source/$1 could not be fetched" "look whether this host reaches the appliance; it says above what failed"
      ;;
    *) cp "$source/$1" "$2" || refuse "$1 is missing from $source" "copy the whole folder again" ;;
  esac
}

cp "$here/root.crt" "$work/root.crt" 2>/dev/null || refuse "root.crt does not lie beside this script" "run the whole command that \`appliance node add NAME\` prints"
check "$work/root.crt" "$root_sum" "the root certificate (root.crt)"
get release-key.pem "$work/release-key.pem"
check "$work/release-key.pem" "$key_sum" "the key that signs releases (release-key.pem)"
for file in boot.sums boot.sums.sig release.json; do get "$file" "$work/$file"; done

# The host's openssl from version 3 checks Ed25519 signatures of files. In its absence ours does, which is known by its SHA-256.
signed=yes
found_openssl=$(openssl version 2>/dev/null) || found_openssl='no openssl'
case $found_openssl in
  'OpenSSL 3.'* | 'OpenSSL '[4-9].*)
    openssl pkeyutl -verify -rawin -pubin -inkey "$work/release-key.pem" -in "$work/boot.sums" -sigfile "$work/boot.sums.sig" >/dev/null 2>&1 || signed=no
    ;;
  *)
    get "blobs/sha256/$verifier_sum" "$work/rt-verify"
    check "$work/rt-verify" "$verifier_sum" "engines/rt-verify"
    chmod 0700 "$work/rt-verify"
    "$work/rt-verify" "$work/release-key.pem" "$work/boot.sums" "$work/boot.sums.sig" || signed=no
    ;;
esac
[ "$signed" = yes ] || refuse "boot.sums: its signature does not match the release's key" "look at the appliance: its release was changed"

# Each line is "<sha256>  <path>": the runtime, its libraries, the installer and the signed release, which names everything else.
while read -r sum path; do
  case $path in
    release.json) to=release.json ;;
    app/installer.mjs) to=installer.mjs ;;
    bin/node) to=node ;;
    lib/*) to=$sum ;;
    *) continue ;;
  esac
  if [ "$to" != release.json ]; then
    # What an earlier run has laid down need not come over the network again.
    cp "$root/current/$path" "$work/$to" 2>/dev/null || :
    case $(sha256sum "$work/$to" 2>/dev/null) in
      "$sum "*) ;;
      *) get "blobs/sha256/$sum" "$work/$to" ;;
    esac
  fi
  check "$work/$to" "$sum" "$path"
done <"$work/boot.sums"
[ -f "$work/node" ] && [ -f "$work/installer.mjs" ] || refuse "boot.sums names no runtime or no installer" "look at the appliance: its release was changed"
chmod 0700 "$work/node"
if ! said=$("$work/node" --version 2>&1 >/dev/null); then
  case $said in
    *'error while loading shared libraries: '*)
      library=${said#*error while loading shared libraries: }
      refuse "this host lacks ${library%%:*}, which the runtime needs" \
        "install the package that has it (for libstdc++.so.6: libstdc++6 on Debian and Ubuntu, libstdc++ on others), then run this again"
      ;;
  esac
  refuse "the runtime does not run on this host: $said" "use a host with glibc 2.28 and GCC 8's libstdc++, or newer"
fi
set +e
if [ "$verb" = leave ]; then
  "$work/node" "$work/installer.mjs" leave --root "$root" $yes
else
  "$work/node" "$work/installer.mjs" join --source "$source" --key "$work/release-key.pem" --root-cert "$work/root.crt" "$@"
fi
exit $?
