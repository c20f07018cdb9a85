/** Figure 4: a page that stays open, with much to hear and with nothing to hear. */
import { setTimeout as sleep } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";
import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import type { ScriptedAgent } from "@resontech/coordinator/testing/scripted-agent";
import { type Figure, rounded } from "./figure.ts";
import { visit } from "./visit.ts";
import type { World } from "./world.ts";

const EVENTS_PER_S = 50;
const WARM_UP_S = 60;
const IDLE_S = 60;
const HIDDEN_S = 60;
const MOST = { heapMb: 10, idleCpu: 0.02, idleBytesPerS: 1_000 };
const MB = 1024 ** 2;

/** @param minutes of events: 60, or fewer and what they say of an hour */
export async function longLife(
  world: World,
  live: { job: string; server: DesiredMember; agent: ScriptedAgent },
  minutes: number,
  progress: (line: string) => void,
): Promise<Figure> {
  const page = await world.page(world.owner.userId);
  const session = await page.context().newCDPSession(page);
  await visit(page, `${world.url}/jobs/${live.job}/curves`);
  await page.getByText("No curve yet").waitFor();
  let told = 0;
  const tell = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      const from = performance.now();
      for (let at = 0; at < EVENTS_PER_S; at += 1) {
        told += 1;
        const value = JSON.stringify({ step: told, loss: 1 / told, accuracy: 1 - 1 / told });
        await live.agent.report(live.server, {
          kind: "metric",
          site: `site-${(at % 2) + 1}`,
          value,
        });
      }
      // The session of who watches must not end: that is another figure.
      if (second % 60 === 59) await page.mouse.move(100 + (second % 50), 100);
      await sleep(Math.max(0, 1_000 - (performance.now() - from)));
    }
  };
  await tell(WARM_UP_S);
  const before = await heapBytes(session);
  const from = performance.now();
  const toldBefore = told;
  await tell(minutes * 60);
  const perS = (told - toldBefore) / ((performance.now() - from) / 1_000);
  const grown = ((await heapBytes(session)) - before) / MB;
  const anHour = (grown / minutes) * 60;
  progress(`heap grew by ${rounded(grown)} MB in ${minutes} min at ${rounded(perS)} events/s`);

  await visit(page, `${world.url}/jobs`, { waitUntil: "networkidle" });
  const idle = await idleUse(page, session, IDLE_S);
  progress(`idle: ${rounded(idle.cpu * 100, 2)} % of a core, ${rounded(idle.bytesPerS)} B/s`);
  await hide(page);
  await sleep((HIDDEN_S + 5) * 1_000);
  const hidden = await idleUse(page, session, 30);
  await page.context().close();
  return {
    goal: "an hour at 50 events/s: heap grows by at most 10 MB; idle tab: at most 2 % of a core and 1 kB/s; hidden for a minute: nothing",
    measured: {
      ...{ minutes, events_per_s: rounded(perS), heap_grew_mb: rounded(grown, 2) },
      heap_grows_mb_an_hour: rounded(anHour, 2),
      ...{
        idle_cpu_percent: rounded(idle.cpu * 100, 2),
        idle_bytes_per_s: rounded(idle.bytesPerS),
      },
      hidden_bytes: hidden.bytes,
    },
    met:
      anHour <= MOST.heapMb &&
      idle.cpu <= MOST.idleCpu &&
      idle.bytesPerS <= MOST.idleBytesPerS &&
      hidden.bytes === 0,
  };
}

/** After two collections: what the first one finalizes is free at the second. */
async function heapBytes(session: CDPSession): Promise<number> {
  for (const _ of [1, 2]) await session.send("HeapProfiler.collectGarbage");
  return (await session.send("Runtime.getHeapUsage")).usedSize;
}

async function idleUse(
  page: Page,
  session: CDPSession,
  seconds: number,
): Promise<{ cpu: number; bytes: number; bytesPerS: number }> {
  await session.send("Network.enable");
  let bytes = 0;
  const onData = ({ encodedDataLength }: { encodedDataLength: number }) =>
    (bytes += encodedDataLength);
  const onFrame = ({ response }: { response: { payloadData: string } }) =>
    (bytes += response.payloadData.length);
  const onRequest = ({ request }: { request: { url: string } }) => (bytes += request.url.length);
  session.on("Network.dataReceived", onData);
  session.on("Network.webSocketFrameReceived", onFrame);
  session.on("Network.webSocketFrameSent", onFrame);
  session.on("Network.requestWillBeSent", onRequest);
  const before = await taskSeconds(session);
  await page.waitForTimeout(seconds * 1_000);
  const cpu = ((await taskSeconds(session)) - before) / seconds;
  session.off("Network.dataReceived", onData);
  session.off("Network.webSocketFrameReceived", onFrame);
  session.off("Network.webSocketFrameSent", onFrame);
  session.off("Network.requestWillBeSent", onRequest);
  return { cpu, bytes, bytesPerS: bytes / seconds };
}

/** What the page's main thread worked. */
async function taskSeconds(session: CDPSession): Promise<number> {
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
}

/** A browser without a window never hides a tab: the page is told what it would be told. */
async function hide(page: Page): Promise<void> {
  await page.evaluate(() => {
    const { document, Event } = globalThis as unknown as {
      document: { dispatchEvent: (event: object) => void };
      Event: new (type: string) => object;
    };
    Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "hidden" });
    document.dispatchEvent(new Event("visibilitychange"));
  });
}
