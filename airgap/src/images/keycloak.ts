import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { KEYCLOAK_THEMES } from "@resontech/keycloak/themes";
import { command } from "../cache/command.ts";
import { resultId, type StepCache } from "../cache/step-cache.ts";
import { fetchMaven } from "../fetch/maven.ts";
import { fetchWheels } from "../fetch/pypi.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { buildDebianRoot } from "./debian-root.ts";
import { ASKS_FOR_CERTIFICATE, unpackKeycloak } from "./keycloak-tree.ts";
import { LAYER_REVISION, packLayer } from "./layer.ts";
import { readLayer, writeImage } from "./oci-image.ts";

const REVISION = 2;

/** What `kc.sh build` fixes; everything else is given at start. */
const BUILD_OPTIONS = [
  ...["--db=postgres", "--health-enabled=true", "--metrics-enabled=true"],
  ...ASKS_FOR_CERTIFICATE,
];

/** Keycloak with its own Java runtime, already augmented: a customer's first start must not compile. Answers its OCI layout. */
export async function buildKeycloak(cache: StepCache, lock: LockFile): Promise<string> {
  const epoch = lock.sourceDateEpoch;
  const pin = lock.maven["keycloak"];
  if (pin === undefined) throw new Error("the lock has no Keycloak");
  const [root, archive, jreWheel] = await Promise.all([
    buildDebianRoot(cache, lock, "base"),
    fetchMaven(cache, pin),
    fetchWheels(cache, lock, "jre"),
  ]);
  const layer = await cache.step(
    "layer keycloak",
    {
      archive: pin.sha256,
      jreWheel: resultId(jreWheel),
      epoch,
      BUILD_OPTIONS,
      REVISION,
      LAYER_REVISION,
    },
    async (into) => {
      const tree = join(into, "tree");
      const keycloak = join(tree, "opt", "keycloak");
      await unpackKeycloak(
        { archive, jreWheel, java: join(tree, "opt", "java"), keycloak, scratch: into },
        BUILD_OPTIONS,
        epoch,
      );
      for (const windows of readdirSync(join(keycloak, "bin")).filter((name) =>
        name.endsWith(".bat"),
      ))
        rmSync(join(keycloak, "bin", windows));
      // Only `data/` is written at run time; it is a mount.
      rmSync(join(keycloak, "data"), { recursive: true, force: true });
      mkdirSync(join(keycloak, "data"));
      await command("chmod", ["-R", "a+rX,go-w", tree]);
      await packLayer(tree, into, epoch);
      rmSync(tree, { recursive: true });
    },
  );
  const theme = await themeLayer(cache, epoch);
  return await cache.step(
    "image keycloak",
    { root: resultId(root), layer: resultId(layer), theme: resultId(theme), REVISION },
    async (into) => {
      writeImage(
        into,
        {
          repository: "resontech/keycloak",
          use: "engine",
          profile: null,
          packages: {},
          pythonVersion: null,
          config: {
            user: "65534:65534",
            env: [
              "PATH=/opt/java/bin:/opt/keycloak/bin:/usr/bin:/bin",
              "JAVA_HOME=/opt/java",
              "LANG=C.UTF-8",
            ],
            entrypoint: ["/opt/keycloak/bin/kc.sh"],
            cmd: ["--help"],
            workingDir: "/opt/keycloak",
          },
        },
        [readLayer(root), readLayer(layer), readLayer(theme)],
        epoch,
      );
    },
  );
}

/** How its pages look: a layer of its own, so that another colour compiles no Keycloak. */
async function themeLayer(cache: StepCache, epoch: number): Promise<string> {
  const files = readdirSync(KEYCLOAK_THEMES, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted();
  const contents = files.map((file) => [
    file.slice(KEYCLOAK_THEMES.length),
    createHash("sha256").update(readFileSync(file)).digest("hex"),
  ]);
  return await cache.step(
    "layer keycloak themes",
    { contents, epoch, LAYER_REVISION },
    async (into) => {
      const tree = join(into, "tree");
      cpSync(KEYCLOAK_THEMES, join(tree, "opt", "keycloak", "themes"), { recursive: true });
      await command("chmod", ["-R", "a+rX,go-w", tree]);
      await packLayer(tree, into, epoch);
      rmSync(tree, { recursive: true });
    },
  );
}
