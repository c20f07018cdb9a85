/**
 * A release of a few kilobytes in the real format: the real installer and the pinned Node, and instead of the appliance a shell script that
 * starts one process. What is installed is small; how it is installed is what a customer runs.
 */
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SIGNATURE_VERIFIER } from "@resontech/contracts/release-manifest";
import { packBundle } from "@resontech/airgap/pack-bundle";
import { shippedProgram } from "@resontech/house/shipped-program";

const repository = join(import.meta.dirname, "..", "..", "..");

/** `start`, `stop`, `image check` and `first-boot` as the installer calls them; the part is a sleep whose process id lies in the run folder. */
export const APPLIANCE = `#!/bin/sh
set -eu
root=$2
verb=$3
instance=$(sed -n 's/.*"instance": "\\(.*\\)".*/\\1/p' "$root/etc/appliance.json")
run=/run/resontech/$instance
case $verb in
  start)
    mkdir -p "$run" "$root/data"
    if [ ! -f "$run/part.pid" ] || ! kill -0 "$(cat "$run/part.pid")" 2>/dev/null; then
      ln -sf "$(command -v sleep)" "$run/part"
      "$run/part" 600 >/dev/null 2>&1 </dev/null &
      echo $! >"$run/part.pid"
    fi ;;
  stop)
    [ ! -f "$run/part.pid" ] || kill "$(cat "$run/part.pid")" 2>/dev/null || :
    rm -f "$run/part.pid" ;;
  image) echo '{"images":0,"unserved":[]}' ;;
  first-boot)
    echo secret >"$root/data/credentials.txt"
    echo '{"credentials":"data/credentials.txt","auditPolicy":{"file":"data/audit.policy","sha256":"0"}}' ;;
esac
`;

export type SmallRelease = { bundle: string; keyFile: string; version: string };

/** The real binary is 150 MB, too much to copy once a test; this is as good for everything but its size. */
const NODE = `#!/bin/sh\nexec ${process.execPath} --disable-warning=ExperimentalWarning "$@"\n`;

/**
 * @param dir an empty folder for the tree and the bundle
 * @param parts text of another runtime or another `appliance`; program that checks signatures where openssl 3 is missing, none unless named
 */
export function makeSmallRelease(
  dir: string,
  parts: {
    node?: string;
    verifier?: string;
    appliance?: string;
    /** Program of a node's release, which has none unless it is given. */
    applianceNode?: string;
    version?: string;
    keycloakVersion?: string;
    keyFile?: string;
  } = {},
): SmallRelease {
  const tree = join(dir, "tree");
  for (const folder of ["bin", "app", "engines"])
    mkdirSync(join(tree, folder), { recursive: true });
  program(join(tree, "bin", "node"), parts.node ?? NODE);
  if (parts.verifier !== undefined) copyFileSync(parts.verifier, join(tree, SIGNATURE_VERIFIER));
  program(join(tree, "bin", "appliance"), parts.appliance ?? APPLIANCE);
  const imports = [
    join(repository, "installer/test/helper/crash-point.ts"),
    shippedProgram("installer"),
  ].map((file) => `await import(${JSON.stringify(pathToFileURL(file))});\n`);
  writeFileSync(join(tree, "app", "installer.mjs"), imports.join(""));
  writeFileSync(join(tree, "app", "data"), "data");
  if (parts.applianceNode !== undefined)
    writeFileSync(join(tree, "app", "appliance-node.mjs"), parts.applianceNode);
  const bundle = join(dir, "bundle");
  const { keyFile = join(dir, "signing-key.pem") } = parts;
  const { version } = packBundle(bundle, {
    ...{ tree, imageLayouts: [], keyFile },
    ...(parts.version === undefined ? {} : { version: parts.version }),
    ...(parts.keycloakVersion === undefined ? {} : { keycloakVersion: parts.keycloakVersion }),
  });
  return { bundle, keyFile, version };
}

function program(file: string, text: string): void {
  writeFileSync(file, text);
  chmodSync(file, 0o755);
}

/**
 * Every port is free on a machine that runs other appliances, so the numbers only have to differ.
 *
 * @param firstPort below 32768, where Linux gives ports to connections that go out, and none of an appliance of `dev/` or `proofs/`
 */
export function flagsFor(root: string, instance: string, firstPort: number): string[] {
  const ports = [
    "api",
    "s3",
    "registry",
    "nats",
    "keycloak",
    "keycloak-management",
    "postgres",
    "prometheus",
  ].flatMap((name, index) => [`--port-${name}`, String(firstPort + index)]);
  return ["--root", root, "--instance", instance, "--node", "node", ...ports];
}

/** Standard output of a file that may not be there. */
export function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
