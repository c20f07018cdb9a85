/** Puts audit-out together: one follower of the log, and whoever takes from it. */
import { join } from "node:path";
import type { AuditOutConfig } from "@resontech/contracts/audit-out-config";
import { removeLeftovers } from "@resontech/frame/durable-file";
import { acquireInstanceLock } from "@resontech/frame/instance-lock";
import type { Logger } from "pino";
import { spillTo } from "@resontech/audit/scrub/scrub";
import { LogFollower } from "./follow/log-follower.ts";
import { seenTrees } from "./follow/seen-file.ts";
import type { SeenTree } from "@resontech/audit/producer";
import { Reporter } from "./reporter.ts";
import { Indexer } from "./search/indexer.ts";
import { listenOnSocket } from "./search/listen.ts";
import { buildSearchApp } from "./search/search-app.ts";
import { SearchIndex } from "./search/search-index.ts";
import { TokenFeed } from "./search/token-feed.ts";
import { DailySheet } from "./sheet/daily-sheet.ts";
import { CursorFile } from "./sinks/cursor-file.ts";
import { receiverOf } from "./sinks/open-sink.ts";
import { Sink } from "./sinks/sink.ts";
import { WitnessClient } from "./witness/witness-client.ts";
import { openWormCopy } from "./worm/open-worm-copy.ts";

/** auditd waits a little longer than this for what the witnesses say. */
const LEARN_MS = 3_000;

/** @throws ConfigError; AlreadyRunningError: two would write the same cursors and index. A log that can't be read is none: it is waited for */
export async function openAuditOut(config: AuditOutConfig, log: Logger): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const { auditDir, policyFile, stateDir, witnessCaFile: caFile } = config;
  stack.use(await acquireInstanceLock(stateDir));
  for (const folder of [stateDir, join(stateDir, "sheets")]) await removeLeftovers(folder);
  const witnesses = stack.use(
    await WitnessClient.open({
      ...{ auditDir, policyFile, caFile, log },
      seenFile: join(stateDir, "witnesses.json"),
      handBack: (origin, size, lines) => reporter.handBack(origin, size, lines),
    }),
  );
  const learn = (): Promise<readonly SeenTree[]> => witnesses.learn(LEARN_MS);
  const reporter = stack.use(
    new Reporter(config.auditSocket, () => seenTrees(stateDir), learn, log),
  );
  const follower = stack.use(new LogFollower(config, log));
  spillTo(stateDir);
  const index = stack.use(
    new SearchIndex(config.stateDir, (reason) =>
      log.warn({ reason }, "the search index is made anew from the log"),
    ),
  );
  const indexer = stack.use(new Indexer(index, follower, config.stateDir, log));
  const sinks: Sink[] = [];
  for (const sink of config.sinks) {
    const { name, skipDamaged = [] } = sink;
    const cursor = new CursorFile(config.stateDir, `sink-${name}`);
    const { retryMs } = config;
    const receiver = await receiverOf(sink);
    sinks.push(
      stack.use(
        await Sink.start({
          ...receiver,
          name,
          skipDamaged,
          cursor,
          follower,
          reporter,
          log,
          retryMs,
        }),
      ),
    );
  }
  const worm =
    config.worm === null
      ? null
      : stack.use(await openWormCopy(config, config.worm, { follower, reporter, log }));
  const statusOfParts = (): Record<string, unknown> => ({
    sinks: sinks.map(({ status }) => status),
    worm: worm?.status ?? null,
  });
  const { tokensSocket } = config;
  const tokens =
    tokensSocket === null ? null : stack.use(new TokenFeed(tokensSocket, index, follower, log));
  const app = buildSearchApp({ index, indexer, follower, tokens, log, statusOfParts });
  stack.defer(() => app.close());
  await listenOnSocket(app, config.searchSocket);
  // Last: a log that was never read may take minutes, and searches say meanwhile how far it is.
  const sheet = stack.use(new DailySheet({ follower, policyFile, stateDir, log }));
  void follower.start().then(() => sheet.look());
  witnesses.follow();
  const owned = stack.move();
  return { [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
