import { join } from "node:path";
import { resultId, StepCache } from "../cache/step-cache.ts";
import { DEFAULT_CACHE } from "../engines/ensure-engine.ts";
import { type LockFile, readLock } from "../lock/lock-file.ts";
import { buildDebianRoot } from "./debian-root.ts";
import { readLayer, writeImage } from "./oci-image.ts";

/** PostgreSQL of Debian, for Keycloak alone. Answers its OCI layout. */
export async function buildPostgres(cache: StepCache, lock: LockFile): Promise<string> {
  const root = await buildDebianRoot(cache, lock, "postgres");
  return await cache.step("image postgres", { root: resultId(root), revision: 1 }, async (into) => {
    writeImage(
      into,
      {
        repository: "resontech/postgres",
        use: "engine",
        profile: null,
        packages: {},
        pythonVersion: null,
        config: {
          user: "65534:65534",
          env: [`PATH=${join("/usr/lib/postgresql/15", "bin")}:/usr/bin:/bin`, "LANG=C.UTF-8"],
          entrypoint: [],
          cmd: ["postgres", "--version"],
          workingDir: "/",
        },
      },
      [readLayer(root)],
      lock.sourceDateEpoch,
    );
  });
}

/** Works as {@link buildPostgres} does, with the pinned packages: for tests, which need the same programs. */
export async function ensurePostgresImage(): Promise<string> {
  return await buildPostgres(new StepCache(DEFAULT_CACHE), readLock(false));
}
