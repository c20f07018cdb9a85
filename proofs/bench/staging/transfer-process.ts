/** A process that transfers as the agent does, with the agent's own code, and says what it took: forked by `staging.ts`. */
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { EventLoopLag } from "@resontech/frame/event-loop-lag";
import { offThread } from "@resontech/agent/off-thread";
import { Uploader } from "@resontech/agent/uploader";

export type StageOrder = {
  do: "stage";
  ca: string;
  shards: { url: string; sizeBytes: number; folder: string }[];
};
export type StoreOrder = {
  do: "store";
  ca: string;
  file: string;
  sizeBytes: number;
  partSizeBytes: number;
  urls: string[];
};
/** Does nothing until the next message: how late any process is on this machine meanwhile. */
export type WatchOrder = { do: "watch" };
export type Order = StageOrder | StoreOrder | WatchOrder;
export type Taken = {
  seconds: number;
  /** User and system, of all threads. */
  cpuS: number;
  /** Of the main thread's event loop, at worst. */
  lagMs: number;
  /** Of the parts of what was stored. */
  etags: string[];
};

const signal = new AbortController().signal;

async function stage({ ca, shards }: StageOrder): Promise<string[]> {
  const work = shards.map(({ url, sizeBytes, folder }) => {
    const input = { target: "shard.zip", sizeBytes, etag: "" };
    return offThread(
      { kind: "shard", input, folder, maxBytes: sizeBytes, ca },
      { url: async () => url },
      signal,
    );
  });
  await Promise.all(work);
  return [];
}

async function store({ ca, file, sizeBytes, partSizeBytes, urls }: StoreOrder): Promise<string[]> {
  let stored: readonly string[] = [];
  const coordinator = {
    outputOpen: async () => ({ upload: "u", partSizeBytes, urls }),
    outputParts: async () => ({ urls: [] }),
    outputComplete: async (_member: unknown, _upload: string, etags: readonly string[]) => {
      stored = etags;
      return { versionId: null };
    },
  };
  const fd = openSync(file, "r");
  try {
    const member = { member: "m", fence: { generation: 1, counter: 1 } };
    await new Uploader(
      coordinator,
      () => ca,
      () => undefined,
    ).upload(member, { fd, sizeBytes, key: "k" }, signal);
  } finally {
    closeSync(fd);
  }
  return [...stored];
}

async function watch(): Promise<string[]> {
  await once(process, "message");
  return [];
}

process.once("message", (order: Order) => {
  void (async () => {
    using lag = new EventLoopLag(3_600_000);
    const [from, before] = [performance.now(), process.cpuUsage()];
    const etags = await (order.do === "stage"
      ? stage(order)
      : order.do === "store"
        ? store(order)
        : watch());
    const { user, system } = process.cpuUsage(before);
    const taken: Taken = {
      seconds: (performance.now() - from) / 1000,
      cpuS: (user + system) / 1e6,
      lagMs: lag.maxMs,
      etags,
    };
    process.send?.(taken, () => process.exit(0));
  })();
});
