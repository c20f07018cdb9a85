/** A week in which disks fill, in the real Prometheus and in what the supervisor writes; and which of them fills first, by arithmetic. */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { join } from "node:path";
import type { CoordinatorConfig } from "@resontech/contracts/coordinator-config";
import type { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import { backupFact, factsOfHost, partFact } from "@resontech/house/facts-of-host";
import { RunningPrometheus } from "@resontech/house/running-prometheus";
import { untilFound } from "@resontech/house/until-found";

const GIB = 1024 ** 3;
const DAY_MS = 86_400_000;
const EVERY_MS = 300_000;
const DAYS = 6;
/** As the supervisor does: what is older than three of these is no longer believed. */
const TOLD_EVERY_MS = 15_000;

/** The one with the least room is not the one that fills first. */
const DISKS = [
  { holds: "logs", totalGib: 100, freeGib: 9, aDayGib: 0.02, floorGib: null },
  { holds: "database, audit log", totalGib: 200, freeGib: 80, aDayGib: 1.5, floorGib: 12 },
  { holds: "object store", totalGib: 2_000, freeGib: 700, aDayGib: 46, floorGib: 100 },
] as const;

/** As a line through the week says it: which disk, and when new jobs would be refused. */
export function firstToFill(now: number): { holds: string; fillsAt: number } {
  const [first] = DISKS.map(({ holds, freeGib, floorGib, aDayGib }) => ({
    holds,
    fillsAt: now + ((freeGib - (floorGib ?? 0)) / aDayGib) * DAY_MS,
  })).toSorted((a, b) => a.fillsAt - b.fillsAt);
  return first!;
}

/** How the coordinator asks the Prometheus that {@link keepWeek} starts in this folder. */
export function readerIn(dir: string, port: number): NonNullable<CoordinatorConfig["prometheus"]> {
  const file = (name: string) => join(dir, name);
  return {
    ...{ port, caFile: file("both.pem") },
    ...{ certFile: file("reader.crt"), keyFile: file("reader.key") },
  };
}

/** Prometheus takes the past from a page of figures with their times: it must be allowed to be so late. */
export async function keepWeek(
  running: RunningCoordinator,
  dir: string,
  port: number,
): Promise<AsyncDisposable> {
  const now = Date.now();
  const door = {
    ...{ address: "127.0.0.1", port: Number(new URL(running.url).port), name: "localhost" },
  };
  const tokenFile = join(dir, "no.token");
  // Nothing else is looked at here, so no alert may tell of that.
  const prometheus = await RunningPrometheus.create(
    dir,
    { ...{ door, tokenFile, port }, doorCa: running.s3.caFile },
    [],
  );
  const past = pastFigures(now);
  let isTold = false;
  const page = createServer((_, reply) => {
    reply.setHeader("content-type", "text/plain; version=0.0.4");
    reply.end(isTold ? "" : past);
    isTold = true;
  }).listen(0, "127.0.0.1");
  await once(page, "listening");
  await prometheus.stop();
  const { configFile } = prometheus.settings;
  const config = JSON.parse(readFileSync(configFile, "utf8")) as { scrape_configs: object[] };
  config.scrape_configs.push({
    job_name: "past",
    scrape_interval: "1s",
    static_configs: [{ targets: [`127.0.0.1:${(page.address() as AddressInfo).port}`] }],
  });
  const storage = { tsdb: { out_of_order_time_window: `${DAYS + 1}d` } };
  writeFileSync(configFile, JSON.stringify({ ...config, storage }));
  await prometheus.start();
  await untilFound("the past in Prometheus", async () => {
    const query = `count_over_time(resontech_disk_free_bytes[${DAYS}d])`;
    return (await prometheus.query(query)).length === DISKS.length;
  });
  page.close();
  const tell = (): void =>
    writeFileSync(running.config.metrics?.factsFile ?? "", JSON.stringify(factsAt(Date.now())));
  tell();
  const telling = setInterval(tell, TOLD_EVERY_MS);
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(telling);
      await prometheus[Symbol.asyncDispose]();
    },
  };
}

function pastFigures(now: number): string {
  const lines = DISKS.flatMap(({ holds, freeGib, aDayGib }) =>
    Array.from({ length: (DAYS * DAY_MS) / EVERY_MS }, (_, back) => {
      const at = now - back * EVERY_MS;
      const free = (freeGib + (aDayGib * (now - at)) / DAY_MS) * GIB;
      return `resontech_disk_free_bytes{holds="${holds}"} ${Math.round(free)} ${at}`;
    }).toReversed(),
  );
  return `# TYPE resontech_disk_free_bytes gauge\n${lines.join("\n")}\n`;
}

/** What the supervisor writes of a host that is well. */
function factsAt(at: number) {
  return factsOfHost({
    at,
    parts: ["coordinator", "auditd", "vault", "door", "s3"].map((part) =>
      partFact({ part, since: at - 9 * DAY_MS }),
    ),
    disks: DISKS.map(({ holds, totalGib, freeGib, floorGib }) => ({
      ...{ holds, totalBytes: totalGib * GIB, freeBytes: Math.round(freeGib * GIB) },
      ...{ totalInodes: 1_000_000, freeInodes: 900_000 },
      ...(floorGib === null ? {} : { refusesBelowBytes: floorGib * GIB }),
    })),
    alerts: [],
    certificates: [
      { file: "etc/ca/root.crt", expiresAt: at + 3_000 * DAY_MS },
      { file: "etc/secrets/door/server.crt", expiresAt: at + 40 * DAY_MS },
    ],
    backup: backupFact({ takenAt: at - DAY_MS / 24, nextAt: at + DAY_MS / 24 }),
    releases: [{ version: "0.2.0", isCurrent: true, since: at - 9 * DAY_MS }],
  });
}
