/** PostgreSQL as the appliance runs it: copied out of its container while it serves, and served again from the copy. */
import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { ensurePostgresImage } from "@resontech/airgap/postgres-image";
import { unpackFolder } from "@resontech/backup/folder-part";
import Docker from "dockerode";
import t from "tap";
import { startPodman } from "../../../agent/test/helper/podman-service.ts";
import {
  type PostgresShell,
  postgresPart,
  shellInContainer,
} from "../../src/backup/postgres-archive.ts";

const UID = 64_113;
const PROGRAMS = "/usr/lib/postgresql/15/bin";

t.test("people come back from a copy that was made while one was being written", async (t) => {
  const layout = await ensurePostgresImage();
  const dir = mkdtempSync(join(tmpdir(), "rt-pg-"));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const root = join(dir, "root.crt");
  writeFileSync(root, "");
  mkdirSync(join(dir, "engine"));
  const podman = await startPodman(join(dir, "engine"), "localhost:5000", root, null);
  try {
    const archive = join(dir, "image.tar");
    execFileSync("tar", ["-cf", archive, "-C", layout, "oci-layout", "index.json", "blobs"]);
    await podman.podman("load", "--quiet", "--input", archive);
    const id = (await podman.podman("images", "--quiet")).trim();
    const image = "localhost/postgres:of-the-test";
    await podman.podman("tag", id, image);
    const engine = new Docker({ socketPath: podman.socket });
    const port = await freePort();
    const first = await serve(engine, image, join(dir, "first"), port);
    await ask(first, port, "CREATE TABLE people (name text); INSERT INTO people VALUES ('ann')");
    const part = postgresPart(
      { path: "data/postgres/cluster", port, passwordFile: "/secrets/password" },
      first,
      dir,
    );
    const opened = await part.open();
    const bytes = "bytes" in opened ? opened.bytes : opened;
    const copy = join(dir, "second", "data", "cluster");
    await unpackFolder(bytes, copy, { uid: UID, gid: UID });
    await ask(first, port, "INSERT INTO people VALUES ('too late')");
    await engine.getContainer(`pg-${port}`).remove({ force: true });

    chownSync(copy, UID, UID);
    const again = await freePort();
    const second = await serve(engine, image, join(dir, "second"), again);
    t.equal(await ask(second, again, "SELECT string_agg(name, ',') FROM people"), "ann");
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

/** Its cluster is made where there is none. */
async function serve(
  engine: Docker,
  image: string,
  dir: string,
  port: number,
): Promise<PostgresShell> {
  const [data, secrets] = [join(dir, "data"), join(dir, "secrets")];
  for (const folder of [data, secrets]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(secrets, "password"), "of-the-test", { mode: 0o440 });
  for (const path of [data, secrets, join(secrets, "password")]) chownSync(path, UID, UID);
  const passwd = join(dir, "passwd");
  writeFileSync(passwd, `postgres:x:${UID}:${UID}::/tmp:/bin/false\n`);
  const container = await engine.createContainer({
    ...{ name: `pg-${port}`, Image: image, User: `${UID}:${UID}`, Env: ["LANG=C.UTF-8"] },
    Entrypoint: ["/bin/sh", "-c"],
    Cmd: [
      [
        `if [ ! -s /data/cluster/PG_VERSION ]; then ${PROGRAMS}/initdb -D /data/cluster -U keycloak --pwfile=/secrets/password --auth=scram-sha-256 -E UTF8 --locale=C.UTF-8; fi`,
        `chmod 0700 /data/cluster; exec ${PROGRAMS}/postgres -D /data/cluster -c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories=/tmp`,
      ].join("\n"),
    ],
    HostConfig: {
      ...{ NetworkMode: "host", ReadonlyRootfs: true, CapDrop: ["ALL"], Tmpfs: { "/tmp": "rw" } },
      SecurityOpt: ["no-new-privileges"],
      Binds: [`${data}:/data`, `${secrets}:/secrets:ro`, `${passwd}:/etc/passwd:ro`],
    },
  });
  await container.start();
  const shell = shellInContainer(engine, `pg-${port}`);
  for (const endsAt = Date.now() + 60_000; ; await sleep(200)) {
    const answer = await ask(shell, port, "SELECT 1").catch(() => null);
    if (answer === "1") return shell;
    if (Date.now() > endsAt) throw new Error("postgres does not start");
  }
}

async function ask(shell: PostgresShell, port: number, sql: string): Promise<string> {
  const into = new PassThrough();
  let text = "";
  into.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const address = `-h 127.0.0.1 -p ${port} -U keycloak -tA`;
  await shell(
    `PGPASSWORD=$(cat /secrets/password) ${PROGRAMS}/psql ${address} -c "${sql}" postgres`,
    into,
  );
  return text.trim();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
