/**
 * A Keycloak that has started once, to be copied: its database is set up and its classes are archived, which is more than half of what a start costs.
 * Made once on a machine.
 */
import { execFile } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { DEFAULT_CACHE } from "@resontech/airgap/engines";
import { ensureTestKeycloak } from "@resontech/airgap/keycloak-tree";
import { resultId, StepCache } from "@resontech/airgap/step-cache";
import type { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { applyRealm } from "@resontech/keycloak/apply-realm";
import { realmDefinition } from "@resontech/keycloak/realm-definition";
import { freePort } from "../network/free-port.ts";
import { endKeycloak, launchKeycloak } from "./launch-keycloak.ts";
import { makeCertificate } from "./make-certificate.ts";

export type StartedKeycloak = {
  java: string;
  /** Its libraries, the same in all copies. */
  lib: string;
  /** The rest of its folder, the database included. */
  home: string;
  /** What a copy's Java is given. */
  archiveOptions: readonly string[];
};

const run = promisify(execFile);
/** Of Java itself, and of Keycloak above it. */
const [BASE, CLASSES] = ["base.jsa", "classes.jsa"];
const REALM_FILE = join(import.meta.dirname, "..", "..", "..", "policies", "realm.json");

/**
 * @param isOurs our realm is in it, with clients of keys that nobody has and of an address that is nobody's: who uses it applies the definition. And it
 * takes no connection without a certificate.
 */
export async function startedKeycloak(isOurs: boolean): Promise<StartedKeycloak> {
  const cache = new StepCache(DEFAULT_CACHE);
  const tree = await ensureTestKeycloak(isOurs, cache);
  const [java, lib] = [join(tree, "java"), join(tree, "keycloak", "lib")];
  const realm = isOurs ? readFileSync(REALM_FILE, "utf8") : null;
  // The archive of classes names the one below it by its path.
  const base = join(
    await cache.step("class archive of java", { tree: resultId(tree) }, async (into) => {
      await run(join(java, "bin", "java"), [
        ...["-XX:+UseSerialGC", "-Xshare:dump", `-XX:SharedArchiveFile=${join(into, BASE)}`],
      ]);
    }),
    BASE,
  );
  const made = await cache.step(
    isOurs ? "keycloak with the realm" : "keycloak started once",
    {
      tree: resultId(tree),
      realm: realm === null ? null : createHash("sha256").update(realm).digest("hex"),
    },
    async (into) => {
      const home = join(into, "keycloak");
      copyHome(join(tree, "keycloak"), lib, home);
      const dir = join(into, "made");
      mkdirSync(dir);
      await makeCertificate(dir);
      const port = await freePort();
      const address = {
        port,
        origin: `https://localhost:${port}`,
        caPem: readFileSync(join(dir, "server.crt"), "utf8"),
        client: { certFile: join(dir, "server.crt"), keyFile: join(dir, "server.key") },
      };
      const { child, admin } = await launchKeycloak({
        ...{ java, home, dir, address, managementPort: await freePort() },
        trusted: [join(dir, "server.crt")],
        archiveOptions: [
          `-XX:SharedArchiveFile=${base}`,
          `-XX:ArchiveClassesAtExit=${join(into, CLASSES)}`,
        ],
      });
      try {
        if (realm !== null) await applyRealmOfNobody(admin, address.origin);
      } finally {
        await endKeycloak(child, "SIGTERM");
      }
      rmSync(dir, { recursive: true });
    },
  );
  return {
    ...{ java, lib, home: join(made, "keycloak") },
    archiveOptions: [`-XX:SharedArchiveFile=${base}:${join(made, CLASSES)}`],
  };
}

/** Its folders are written to; its libraries, by far the most, are not. */
export function copyHome(from: string, lib: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => path !== join(from, "lib") });
  symlinkSync(lib, join(to, "lib"));
}

/** Our realm, with clients of keys that nobody has. */
export async function applyRealmOfNobody(admin: KeycloakAdmin, origin: string): Promise<void> {
  const realm = readFileSync(REALM_FILE, "utf8");
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwks = JSON.stringify({
    keys: [{ ...publicKey.export({ format: "jwk" }), kid: "nobody", alg: "ES256", use: "sig" }],
  });
  await applyRealm(
    admin,
    realmDefinition(realm, { origin, jwks: { dashboard: jwks, coordinator: jwks } }),
  );
}
