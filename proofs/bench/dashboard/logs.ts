/** Figure 5: a log of a million lines, and one that grows while its connection is cut. */
import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { quantile } from "../../statistics.ts";
import { type Figure, rounded } from "./figure.ts";
import { visit } from "./visit.ts";
import type { LiveJob } from "./live-job.ts";
import { LONG_LOG_JOB, RARE } from "./seed.ts";
import type { World } from "./world.ts";

const MOST = { tailMs: 500, firstHitMs: 2_000, followMs: 1_000 };
const ROUNDS = 5;
const FOLLOWED = 150;
const CUTS = 20;
const LINES_A_CUT = 15;

export async function millionLines(
  world: World,
  live: LiveJob,
  progress: (line: string) => void,
): Promise<Figure> {
  const tails: number[] = [];
  const hits: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const page = await world.page(world.owner.userId);
    await visit(page, `${world.url}/jobs/${LONG_LOG_JOB}/rounds`, { waitUntil: "networkidle" });
    // The log of the server is empty: a site's is the first that has lines.
    const from = performance.now();
    await page.getByRole("tab", { name: "Logs" }).click();
    await page
      .getByText(/step 0\d+9 loss/)
      .last()
      .waitFor();
    tails.push(performance.now() - from);
    await page.getByRole("searchbox").fill(round % 2 === 0 ? RARE : RARE.toUpperCase());
    const searchedFrom = performance.now();
    await page.keyboard.press("Enter");
    await page.getByRole("list", { name: "Matches" }).locator("mark").first().waitFor();
    hits.push(performance.now() - searchedFrom);
    await page.context().close();
  }
  progress(
    `tail ${rounded(quantile(tails, 0.5), 0)} ms, first hit ${rounded(quantile(hits, 0.5), 0)} ms`,
  );

  const page = await world.page(world.owner.userId);
  await visit(page, `${world.url}/jobs/${live.job}/logs`);
  await page.getByLabel("Log of").selectOption({ label: "site-1, attempt 1" });
  await page.getByText("following").waitFor();
  await noteWhenSeen(page);
  const printer = new Printer(live);
  for (let at = 0; at < FOLLOWED; at += 1) {
    await printer.print();
    await sleep(40);
  }
  await page.getByText(`line ${FOLLOWED - 1} `).waitFor();
  const follow = await page.evaluate(() => [
    ...(globalThis as unknown as { seenAfterMs: Map<number, number> }).seenAfterMs.values(),
  ]);
  progress(`followed ${follow.length} lines, p95 ${rounded(quantile(follow, 0.95), 0)} ms`);

  const port = new URL(world.url).port;
  for (let cut = 0; cut < CUTS; cut += 1) {
    // The page came back from the cut before.
    await page.getByRole("banner").getByText("live", { exact: true }).waitFor();
    for (let at = 0; at < LINES_A_CUT; at += 1) {
      if (at === 5) cutConnections(port);
      await printer.print();
    }
    await sleep(200);
  }
  await page.getByText(`line ${printer.printed - 1} `).waitFor({ timeout: 60_000 });
  const shown = await allLines(page);
  const numbers = shown.flatMap((line) => {
    const found = /^line (\d+) /.exec(line);
    return found === null ? [] : [Number(found[1])];
  });
  const counted = new Map<number, number>();
  for (const number of numbers) counted.set(number, (counted.get(number) ?? 0) + 1);
  const lost = printer.printed - counted.size;
  const doubled = [...counted.values()].filter((times) => times > 1).length;
  const isOrdered = numbers.every((number, at) => at === 0 || number > numbers[at - 1]!);
  await page.context().close();
  const [tailMs, hitMs, followMs] = [Math.max(...tails), Math.max(...hits), quantile(follow, 0.95)];
  return {
    goal: "a log of a million lines: tail at most 500 ms, first hit over 8 sites at most 2 s, follow p95 at most 1 s; 20 cuts: no line lost or doubled",
    measured: {
      ...{
        lines: world.sizes.lines,
        log_mb: rounded(world.logBytes / 1e6),
        tail_max_ms: rounded(tailMs, 0),
      },
      ...{ first_hit_max_ms: rounded(hitMs, 0), follow_p95_ms: rounded(followMs, 0) },
      ...{ cuts: CUTS, printed: printer.printed, lost, doubled, in_order: String(isOrdered) },
    },
    met:
      tailMs <= MOST.tailMs &&
      hitMs <= MOST.firstHitMs &&
      followMs <= MOST.followMs &&
      lost === 0 &&
      doubled === 0 &&
      isOrdered,
  };
}

/** Prints numbered lines that say when they were printed. */
class Printer {
  readonly #live: LiveJob;
  printed = 0;
  #offset = 0;

  constructor(live: LiveJob) {
    this.#live = live;
  }

  async print(): Promise<void> {
    const text = `line ${this.printed} at ${Date.now()} ms\n`;
    const { agent, job, client } = this.#live;
    await agent.tail({
      job,
      member: client.member,
      offset: this.#offset,
      bytes: text.length,
      text,
    });
    this.#offset += text.length;
    this.printed += 1;
  }
}

/** The kernel ends every connection to this port; neither side sends a word. @throws where the kernel can't */
function cutConnections(port: string): void {
  const told = execFileSync("ss", ["-K", "dst", "127.0.0.1", "dport", "=", `:${port}`], {
    stdio: ["ignore", "pipe", "ignore"],
  }).toString();
  if (!told.includes(`:${port}`)) throw new Error("no connection was cut");
}

async function noteWhenSeen(page: Page): Promise<void> {
  await page.evaluate(() => {
    const { document, MutationObserver } = globalThis as unknown as {
      document: { querySelector: (selector: string) => { textContent: string } };
      MutationObserver: new (look: () => void) => { observe: (what: object, how: object) => void };
    };
    const seen = new Map<number, number>();
    const log = document.querySelector("[role=log]");
    new MutationObserver(() => {
      for (const [, number, at] of log.textContent.matchAll(/line (\d+) at (\d+) ms/g))
        if (!seen.has(Number(number))) seen.set(Number(number), Date.now() - Number(at));
    }).observe(log, { childList: true, subtree: true, characterData: true });
    Object.assign(globalThis, { seenAfterMs: seen });
  });
}

/** Every line of the list, which draws those in sight alone: read from its beginning to its end. */
async function allLines(page: Page): Promise<string[]> {
  return await page.evaluate(async () => {
    type Line = { textContent: string; style: { transform: string } };
    const { document, requestAnimationFrame } = globalThis as unknown as {
      document: {
        querySelector: (selector: string) => {
          scrollTop: number;
          clientHeight: number;
          scrollHeight: number;
        };
        querySelectorAll: (selector: string) => Iterable<Line>;
      };
      requestAnimationFrame: (frame: () => void) => void;
    };
    const frame = () => new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
    const list = document.querySelector("[role=log]");
    const lines = new Map<number, string>();
    for (let top = 0; ; top += list.clientHeight / 2) {
      list.scrollTop = top;
      for (let frames = 0; frames < 4; frames += 1) await frame();
      for (const { textContent, style } of document.querySelectorAll("[role=log] > div > div"))
        lines.set(Number(/\d+/.exec(style.transform)?.[0] ?? 0), textContent);
      if (top + list.clientHeight >= list.scrollHeight) break;
    }
    return [...lines].sort(([a], [b]) => a - b).map(([, line]) => line);
  });
}
