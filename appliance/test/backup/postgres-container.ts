/** PostgreSQL of the bundle's image in a container, with the flags of the appliance. */
import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { ensurePostgresImage } from "@resontech/airgap/postgres-image";
import type Docker from "dockerode";
import type { PodmanService } from "@resontech/house/podman-service";
import { type PostgresShell, shellInContainer } from "../../src/backup/postgres-archive.ts";

/** Of the appliance's default. */
export const POSTGRES_UID = 64_113;
const PROGRAMS = "/usr/lib/postgresql/15/bin";

/** @returns how the engine calls it */
export async function loadPostgresImage(podman: PodmanService, dir: string): Promise<string> {
  const layout = await ensurePostgresImage();
  const archive = join(dir, "image.tar");
  execFileSync("tar", ["-cf", archive, "-C", layout, "oci-layout", "index.json", "blobs"]);
  await podman.podman("load", "--quiet", "--input", archive);
  const id = (await podman.podman("images", "--quiet")).trim();
  const image = "localhost/postgres:of-the-test";
  await podman.podman("tag", id, image);
  return image;
}

/** Its cluster is made where there is none. */
export async function servePostgres(
  engine: Docker,
  image: string,
  dir: string,
  { port, name = `pg-${port}` }: { port: number; name?: string },
): Promise<PostgresShell> {
  const [data, secrets] = [join(dir, "data"), join(dir, "secrets")];
  for (const folder of [data, secrets]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(secrets, "password"), "of-the-test", { mode: 0o440 });
  for (const path of [data, secrets, join(secrets, "password")])
    chownSync(path, POSTGRES_UID, POSTGRES_UID);
  const passwd = join(dir, "passwd");
  writeFileSync(passwd, `postgres:x:${POSTGRES_UID}:${POSTGRES_UID}::/tmp:/bin/false\n`);
  const container = await engine.createContainer({
    ...{ name, Image: image, User: `${POSTGRES_UID}:${POSTGRES_UID}`, Env: ["LANG=C.UTF-8"] },
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
  const shell = shellInContainer(engine, name);
  for (const endsAt = Date.now() + 60_000; ; await sleep(200)) {
    const answer = await askPostgres(shell, port, "SELECT 1").catch(() => null);
    if (answer === "1") return shell;
    if (Date.now() > endsAt) throw new Error("postgres does not start");
  }
}

export async function askPostgres(
  shell: PostgresShell,
  port: number,
  sql: string,
): Promise<string> {
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
