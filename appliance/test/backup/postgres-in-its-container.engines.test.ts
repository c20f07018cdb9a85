/** PostgreSQL as the appliance runs it: copied out of its container while it serves, and served again from the copy. */
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { unpackFolder } from "@resontech/backup/folder-part";
import Docker from "dockerode";
import t from "tap";
import { startPodman } from "@resontech/house/podman-service";
import { postgresPart, shellInContainer } from "../../src/backup/postgres-archive.ts";
import {
  askPostgres,
  loadPostgresImage,
  POSTGRES_UID,
  servePostgres,
} from "./postgres-container.ts";
import { freePort } from "@resontech/house/free-port";

t.test("people come back from a copy that was made while one was being written", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "rt-pg-"));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const root = join(dir, "root.crt");
  writeFileSync(root, "");
  mkdirSync(join(dir, "engine"));
  const podman = await startPodman(join(dir, "engine"), "localhost:5000", root, null);
  try {
    const image = await loadPostgresImage(podman, dir);
    const engine = new Docker({ socketPath: podman.socket });
    const port = await freePort();
    const first = await servePostgres(engine, image, join(dir, "first"), { port });
    await askPostgres(
      first,
      port,
      "CREATE TABLE people (name text); INSERT INTO people VALUES ('ann')",
    );
    const part = postgresPart(
      { path: "data/postgres/cluster", port, passwordFile: "/secrets/password" },
      first,
      dir,
    );
    const opened = await part.open();
    const bytes = "bytes" in opened ? opened.bytes : opened;
    const copy = join(dir, "second", "data", "cluster");
    await unpackFolder(bytes, copy, { uid: POSTGRES_UID, gid: POSTGRES_UID });
    await askPostgres(first, port, "INSERT INTO people VALUES ('too late')");
    await engine.getContainer(`pg-${port}`).remove({ force: true });

    chownSync(copy, POSTGRES_UID, POSTGRES_UID);
    const again = await freePort();
    const second = await servePostgres(engine, image, join(dir, "second"), {
      port: again,
    });
    t.equal(await askPostgres(second, again, "SELECT string_agg(name, ',') FROM people"), "ann");
    await t.rejects(shellInContainer(engine, "nobody")("true", new PassThrough()), {
      code: "backup_source",
    });
    await t.rejects(second("echo why >&2; exit 3", new PassThrough().resume()), {
      message: /exit 3 why/,
    });
  } finally {
    await podman.stop();
  }
});
