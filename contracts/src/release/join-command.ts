/** The one command that makes another host a node. All that it trusts stands in it; the token, which is a secret, does not. */

export type JoinFacts = {
  node: string;
  appliance: string;
  ports: { api: number; s3: number; registry: number; nats: number };
  /** Of the files' bytes, hex. */
  rootSha256: string;
  keySha256: string;
  scriptSha256: string;
};

/** Arguments of `join-node.sh`; none of them has a character that a shell knows. */
export function joinArguments({
  node,
  appliance,
  ports,
  rootSha256,
  keySha256,
}: JoinFacts): string {
  return [
    `--appliance ${appliance}`,
    `--ports ${[ports.api, ports.s3, ports.registry, ports.nats].join(",")}`,
    `--node ${node}`,
    `--root-sha256 ${rootSha256}`,
    `--key-sha256 ${keySha256}`,
  ].join(" ");
}

/**
 * The root certificate comes over a connection that nobody vouches for, and is compared; from then on it vouches for the connection. The script is
 * compared as well, and verifies the rest. Further options may be put at the command's end.
 */
export function joinCommand(facts: JoinFacts): string {
  const { appliance, ports, rootSha256, scriptSha256 } = facts;
  const script = [
    "set -eu",
    // join-node.sh knows the name, and removes what one that was killed left.
    'd=$(mktemp -d "${TMPDIR:-/tmp}/resontech-join.$$.XXXXXX")',
    'trap "rm -rf \\"\\$d\\"" EXIT',
    'cd "$d"',
    `u=https://${appliance}:${ports.api}/node/v1`,
    'g() { if command -v curl >/dev/null; then curl -fsS --noproxy "*" $3 -o $2 $u/$1; else wget -q --no-proxy $4 -O $2 $u/$1; fi; }',
    'c() { echo "$1  $2" | sha256sum -c - >/dev/null 2>&1 || { echo "refused: the SHA-256 of $2 is not the one in this command" >&2; exit 3; }; }',
    "g root.crt root.crt -k --no-check-certificate",
    `c ${rootSha256} root.crt`,
    `g blobs/sha256/${scriptSha256} join-node.sh "--cacert root.crt" --ca-certificate=root.crt`,
    `c ${scriptSha256} join-node.sh`,
    `sh join-node.sh ${joinArguments(facts)} "$@"`,
  ].join("; ");
  return `sh -c '${script}' join-node`;
}

/** The script for a medium: it is told what the command would tell it, so that its one SHA-256 stands for all. */
export function scriptForMedium(script: string, facts: JoinFacts): string {
  const end = script.indexOf("\n") + 1;
  return `${script.slice(0, end)}set -- ${joinArguments(facts)} "$@"\n${script.slice(end)}`;
}
