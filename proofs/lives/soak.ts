/**
 * A hundred federated jobs within an hour, every tenth cancelled half-way: memory and open files of each part, looked at while no job runs,
 * must be as they were after the first ones. Of our own processes, that which is left once their garbage is collected is compared as well: it tells a slow
 * leak from memory that V8 collects late.
 *
 * `npm run prove -- soak [JOBS [SECONDS]]` (100 jobs in 3600 s unless said)
 */
import { setTimeout as sleep } from "node:timers/promises";
import { untilNothingIsLeft } from "@resontech/house/leftovers";
import { isVerified, verifyAudit } from "@resontech/house/verify-audit";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { openUploads } from "@resontech/house/open-uploads";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { RecordedJobs } from "@resontech/house/recorded-job";
import { heapByPart } from "../bench/measure/heap-by-part.ts";
import { ReplacedParts } from "../faults/watch/replaced-parts.ts";
import type { RetainedHeap } from "../bench/measure/retained-heap.ts";
import { type Resources, resourcesByPart } from "../bench/measure/resources-by-part.ts";
import { spread } from "../statistics.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const JOB = { rounds: 2, ticks: 2 };
const JOB_LIMIT_MS = 300_000;
const CANCEL_EVERY = 10;
/** Of all samples: caches fill during the first of them. */
const WARM_SHARE = 0.2;
/** The lowest of the last third against the lowest of the first: what is collected now and then shows in neither. */
const GROWTH = { share: 0.1, bytes: 8e6, files: 2 };
/** So many looks at their heaps, evenly spread. What they remember on purpose is bounded: it fills up before the second, from which the last is judged. */
const HEAP_LOOKS = 5;
const HEAP_GROWTH_BYTES = 2e6;

type Sample = Record<string, Resources>;
type FirstAndLast = [first: number, last: number];
/** After a collection of garbage, at each look. */
type HeapGrowth = { objectsMb: number[]; buffersMb: number[]; isFlat: boolean };
/** `tables` of PostgreSQL alone, and no part of what is judged. */
type Growth = { pssMb: FirstAndLast; files: FirstAndLast; tables?: FirstAndLast; isFlat: boolean };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const count = Number(args[0] ?? 100);
  const everyMs = (Number(args[1] ?? 3600) * 1000) / count;
  await using installed = await ProofAppliance.install(progress);
  const { appliance, bundle } = installed;
  const jobs = await RecordedJobs.open(appliance, installed.folder("soak"));
  const api = new ApplianceApi(appliance);
  const replaced = new ReplacedParts(appliance);
  try {
    const samples: Sample[] = [];
    const seconds: number[] = [];
    const wrong: string[] = [];
    const heaps: Record<string, RetainedHeap>[] = [];
    const betweenHeaps = Math.ceil(count / HEAP_LOOKS);
    for (let number = 1; number <= count; number += 1) {
      const from = Date.now();
      const id = await jobs.submit(`soak-${number}`, JOB);
      const isCancelled = number % CANCEL_EVERY === 0;
      if (isCancelled) {
        await jobs.untilCommitted(id, 0);
        await api.call("POST", `/api/tasks/${id}/cancel`);
      }
      const { status, detail } = await api.untilEnded(id, JOB_LIMIT_MS);
      if (
        isCancelled ? detail.state !== "CANCELLED" : status !== "FINISHED" || detail.attempt !== 1
      )
        wrong.push(`${id}: ${detail.state} on attempt ${detail.attempt}`);
      if (!isCancelled) seconds.push((Date.now() - from) / 1000);
      const left = await untilNothingIsLeft(appliance);
      wrong.push(...left.map((what) => `after ${id}: ${what}`));
      await sleep(Math.max(1_000, everyMs - (Date.now() - from)));
      samples.push(resourcesByPart(appliance));
      progress(`${number}/${count}: ${detail.state}; ${describe(samples.at(-1)!)}`);
      if (number % betweenHeaps === 0 || number === count) heaps.push(await heapByPart(appliance));
    }
    const growth = growthOf(samples.slice(Math.floor(samples.length * WARM_SHARE)));
    const heap = heapGrowth(heaps);
    const restarts = replaced.names();
    const uploads = await openUploads(jobs.workstation);
    const audit = await verifyAudit(appliance, installed.folder("audit"), bundle.bundle);
    const ok =
      wrong.length === 0 &&
      restarts.length === 0 &&
      uploads.length === 0 &&
      Object.values(growth).every(({ isFlat }) => isFlat) &&
      Object.values(heap).every(({ isFlat }) => isFlat) &&
      isVerified(audit);
    return {
      ok,
      figures: {
        jobs: count,
        job_s: spread(seconds, 1),
        growth,
        heap,
        wrong,
        restarts,
        uploads,
        audit,
      },
    };
  } finally {
    api.close();
  }
}

function growthOf(samples: readonly Sample[]): Record<string, Growth> {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const least = (of: readonly Sample[], part: string, what: keyof Resources) =>
    Math.min(...of.map((sample) => sample[part]?.[what] ?? Number.NaN));
  return Object.fromEntries(
    Object.keys(samples.at(-1) ?? {}).map((part) => {
      const of = (what: keyof Resources): FirstAndLast => [
        least(samples.slice(0, third), part, what),
        least(samples.slice(-third), part, what),
      ];
      const [pss, files, tables] = [of("pssBytes"), of("files"), of("tables")];
      const isFlat =
        pss[1] - pss[0] <= GROWTH.bytes + GROWTH.share * pss[0] &&
        files[1] - files[0] <= GROWTH.files;
      const inMb = pss.map((bytes) => Number((bytes / 1e6).toFixed(1))) as FirstAndLast;
      return [part, { pssMb: inMb, files, ...(tables[1] > 0 ? { tables } : {}), isFlat }];
    }),
  );
}

function heapGrowth(looks: readonly Record<string, RetainedHeap>[]): Record<string, HeapGrowth> {
  const megabytes = (bytes: number): number => Number((bytes / 1e6).toFixed(2));
  return Object.fromEntries(
    Object.keys(looks[0] ?? {}).map((part) => {
      const of = looks.flatMap((look) => look[part] ?? []);
      const sums = of.map(({ objectBytes, bufferBytes }) => objectBytes + bufferBytes);
      const isFlat = sums.at(-1)! - (sums[1] ?? sums[0]!) <= HEAP_GROWTH_BYTES;
      return [
        part,
        {
          objectsMb: of.map(({ objectBytes }) => megabytes(objectBytes)),
          buffersMb: of.map(({ bufferBytes }) => megabytes(bufferBytes)),
          isFlat,
        },
      ];
    }),
  );
}

function describe(sample: Sample): string {
  const of = Object.values(sample);
  const sum = (what: keyof Resources): number =>
    of.reduce((total, resources) => total + resources[what], 0);
  return `${(sum("pssBytes") / 1e6).toFixed(0)} MB, ${sum("files")} files`;
}
