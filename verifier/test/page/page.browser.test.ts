import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { commitment } from "@resontech/audit/format/event/commitment";
import { exportLog } from "@resontech/audit/export";
import { exportProof } from "@resontech/audit/export/export-proof";
import { connectProducer } from "@resontech/audit/producer";
import { PROOF_HEADER, verifyProof } from "../../src/event-proof.ts";
import { parseKnown } from "../../src/tree/known.ts";
import { nodePlatform } from "../../src/platform/platform-node.ts";
import { parseNonce, parseSample, type Sample } from "../../src/sample/sample.ts";
import { parseDowntime } from "../../src/completeness/timeline.ts";
import { exitCode } from "../../src/verdicts.ts";
import { lacksCounterpart, verify } from "../../src/verify.ts";
import { keyList } from "@resontech/audit/testing/event-drafts";
import { untilFound } from "@resontech/house/until-found";
import { startedAuditd } from "@resontech/auditd/testing/auditd-fixture";
import { MadeLog, ORIGIN } from "../helper/made-log.ts";
import { madeRelease, releasesOf } from "../helper/made-release.ts";
import { type Chosen, HTML, openPage, startedBrowser } from "../helper/opened-page.ts";

const browser = await startedBrowser(t);

/** What the file that runs under Node says of the same. */
async function byNode({
  export: bytes,
  policy,
  known,
  release = [],
  nonce,
  downtime,
  sample,
  filter,
}: Chosen): Promise<object> {
  if (bytes.toString("latin1", 0, PROOF_HEADER.length) === PROOF_HEADER) {
    const report = await verifyProof(bytes, policy ?? null, nodePlatform);
    return { ...report, exitCode: exitCode(report.verdicts, report.refused !== null, []) };
  }
  const report = await verify({
    bundle: (async function* () {
      yield bytes;
    })(),
    policy: policy ?? null,
    platform: nodePlatform,
    known: (known ?? []).flatMap((one) => parseKnown(one)),
    releases: releasesOf(...release),
    downtime: downtime === undefined ? null : parseDowntime(downtime),
    ...(nonce === undefined ? {} : { nonce: parseNonce(nonce)! }),
    ...(sample === undefined ? {} : { sample: parseSample(sample, filter ?? "", true) as Sample }),
  });
  return {
    ...report,
    exitCode: exitCode(report.verdicts, report.refused !== null, [], lacksCounterpart(report)),
  };
}

/** Three hours with a witness, one of them DARK, one producer SILENT. */
function eventfulLog(): { log: MadeLog; archive: Buffer } {
  const log = MadeLog.begun();
  const kept: string[] = [];
  const see = () => log.checkpoint(log.leaves.length, { witnessed: true });
  log.run(50);
  kept.push(see());
  log.nowMs += 45 * 60_000;
  log.start("auditd");
  log.run(90, ["p"]);
  log.run(10);
  log.key();
  return { log, archive: log.archive({ note: see(), kept }) };
}

const MEASURED = { path: "app/auditd.mjs", sha256: "a".repeat(64) };

function measuredLog(): MadeLog {
  const log = MadeLog.begun();
  log.start("supervisor");
  log.say(
    {
      type: "admin.measured",
      object: { kind: "process", id: "auditd" },
      detail: { files: [MEASURED] },
    },
    "supervisor",
  );
  return log;
}

t.test("the page judges as the file does: honest, altered, hostile", async (t) => {
  const { log, archive } = eventfulLog();
  const policy = log.policy("w1");
  const altered = Buffer.from(archive);
  altered[archive.indexOf("key.list")]! ^= 1;
  const forged = log.archive({
    note: log.checkpoint(log.leaves.length, { root: Buffer.alloc(32, 7) }),
  });
  const hostile = Buffer.from(
    log.archive().toString("latin1").replaceAll(ORIGIN, "<img src=x onerror=boom()>".slice(0, 18)),
    "latin1",
  );
  const nonce = "ab".repeat(32);
  const cases: Record<string, Chosen> = {
    honest: { export: archive, policy },
    "without a policy": { export: archive },
    altered: { export: altered, policy },
    "signed over another root": { export: forged, policy },
    "cut short": { export: archive.subarray(0, archive.length - 1_024), policy },
    "no archive": { export: Buffer.from("<script>boom()</script>".repeat(100)), policy },
    empty: { export: Buffer.alloc(0), policy },
    hostile: { export: hostile, policy },
    "a policy that is none": { export: archive, policy: Buffer.from("log <b>\n") },
    "with everything": {
      export: archive,
      policy,
      known: [
        Buffer.from(log.checkpoint(20)),
        Buffer.from(log.checkpoint(30, { root: Buffer.alloc(32, 3) })),
      ],
      nonce,
      downtime: "2026-03-01T08:50Z 2026-03-01T09:40Z\n",
      sample: "5",
      filter: "type=audit.heartbeat",
    },
  };
  const measured = measuredLog();
  const beside = { export: measured.archive(), policy: measured.policy() };
  const [runs, other] = [
    madeRelease({ tree: [MEASURED] }),
    madeRelease({ tree: [{ ...MEASURED, sha256: "0".repeat(64) }] }),
  ];
  cases["beside releases"] = { ...beside, release: [other, runs] };
  cases["beside another release"] = { ...beside, release: [other] };
  cases["beside a release, with nothing measured"] = { export: archive, policy, release: [runs] };
  const opened = await openPage(t, browser);
  for (const [name, chosen] of Object.entries(cases)) {
    await opened.page.reload();
    const report = await opened.check(chosen);
    t.strictSame(report, await byNode(chosen), name);
    t.equal(
      await opened.page.getAttribute("#answer", "data-exit-code"),
      String(report.exitCode),
      name,
    );
    for (const [verdict, { verdict: said, reason }] of Object.entries(report.verdicts)) {
      const row = await opened.text(`tr[data-verdict="${verdict}"]`);
      t.ok(row.includes(said) && row.includes(reason), `${name}: shows ${verdict}`);
    }
    for (const one of chosen.release ?? [])
      t.ok(
        (await opened.text("#report")).includes(createHash("sha256").update(one).digest("hex")),
        `${name}: shows the release's hash`,
      );
  }
  t.strictSame(opened.errors, []);
  t.strictSame(
    opened.requests.filter((url) => !url.startsWith("file:")),
    [],
    "it asks for nothing but itself",
  );
});

/** A disk that is slow: each piece takes its time, or waits for `goOn` of the page. */
async function slowDown(page: Page, until: "a moment" | "goOn"): Promise<void> {
  await page.evaluate(`const read = Blob.prototype.arrayBuffer;
    const goneOn = new Promise((resolve) => (globalThis.goOn = resolve));
    const moment = () => new Promise((resolve) => setTimeout(resolve, 300));
    Blob.prototype.arrayBuffer = async function () {
      await ${until === "goOn" ? "goneOn" : "moment()"};
      return read.call(this);
    };`);
}

t.test("a log of auditd itself, with progress, and the proof of one of its entries", async (t) => {
  const auditd = await startedAuditd(t);
  await using producer = await connectProducer({
    socketPath: auditd.socket("coordinator-gate"),
    boot: "b-1",
  });
  const acks = await Promise.all(Array.from({ length: 1_000 }, () => producer.fact(keyList())));
  await producer.covered(acks.at(-1)!.index);
  await producer.close();
  await auditd.stop();
  const file = join(auditd.root, "export.tar");
  await exportLog({ logDir: auditd.logDir, file });
  const policy = readFileSync(auditd.config.policyFile);
  const opened = await openPage(t, browser);
  await opened.page.evaluate(`globalThis.told = [];
    new MutationObserver(() => told.push(rate.textContent)).observe(rate, { childList: true });`);
  // A check that ends sooner than the page tells anything tells nothing.
  await slowDown(opened.page, "a moment");
  const chosen = { export: readFileSync(file), policy };
  const report = await opened.check(chosen);
  t.match(report, {
    exitCode: 0,
    verdicts: { SIGNATURE: { verdict: "PASS" }, INTEGRITY: { verdict: "PASS" } },
  });
  t.strictSame(report, await byNode(chosen));
  const told = await opened.page.evaluate<string[]>("told");
  t.ok(
    told.some((text) => /^\d+ of \d+ entries, \d+ a second$/.test(text)),
    `tells how far it is: ${told.join(" | ")}`,
  );
  t.match(
    await opened.text("#status"),
    /^Nothing failed\. \d+ entries in [\d.]+ s, \d+ a second\.$/,
  );
  t.equal(
    await opened.text("#policy-hash"),
    `SHA-256 ${createHash("sha256").update(policy).digest("hex")}`,
    "the policy's hash is there to compare",
  );

  await opened.page.reload();
  const proof = { export: Buffer.from(await exportProof(auditd.logDir, 300)), policy };
  t.strictSame(await opened.check(proof), await byNode(proof));
  t.match(await opened.text("pre"), /"type":"key.list"/);
  t.strictSame(opened.errors, []);
});

t.test(
  "entries of a sound export are shown by filter, and of one that is not sound there are none",
  async (t) => {
    const log = MadeLog.begun();
    log.requested();
    const { commitment: sealed, disclosure } = commitment("src.addr", "<b>10.0.0.7</b>");
    const index = log.say({ type: "key.list", src: { addr: sealed } });
    const archive = log.archive({ disclosures: [{ index, commitment: sealed, ...disclosure }] });
    const opened = await openPage(t, browser);
    await opened.check({ export: archive, policy: log.policy() });
    const ask = async (filters: Record<string, string>): Promise<string> => {
      for (const [name, text] of Object.entries(filters))
        await opened.page.fill(`#list-${name}`, text);
      await opened.page.click("#list");
      await opened.page.waitForSelector("#list:enabled");
      return await opened.text("#list-status");
    };
    t.equal(await ask({}), "5 of 5 entries.");
    t.equal(await ask({ type: "key.*" }), "1 of 5 entries.");
    t.match(
      await opened.text("table.entries tbody"),
      /key\.listfactuser usr-1.*src\.addr="<b>10\.0\.0\.7<\/b>"/,
    );
    t.match(await ask({ type: "key.lsit" }), /there is no such type; there are key\./);
    const altered = Buffer.from(archive);
    altered[archive.indexOf("key.list")]! ^= 1;
    await opened.page.reload();
    await opened.check({ export: altered, policy: log.policy() });
    t.equal(await opened.page.$("#list"), null);
    t.strictSame(opened.errors, []);
  },
);

t.test("a check can be stopped, and the page goes on", async (t) => {
  const { log, archive } = eventfulLog();
  const opened = await openPage(t, browser);
  await opened.choose({ export: archive, policy: log.policy("w1") });
  await slowDown(opened.page, "goOn");
  await opened.page.click("#start");
  await opened.page.waitForSelector("#progress");
  t.ok(await opened.page.isDisabled("#start"));
  await opened.page.click("#stop");
  await opened.page.evaluate("goOn()");
  await opened.page.waitForSelector("body[data-state=idle]");
  t.equal(await opened.text("#status"), "Stopped. Nothing was judged.");
  t.equal(await opened.text("#report"), "");
});

t.test("what can't be used is said beside its field, and nothing is judged", async (t) => {
  const { log, archive } = eventfulLog();
  const opened = await openPage(t, browser);
  await opened.page.click("#start");
  await opened.page.waitForSelector('#export[aria-invalid="true"]');
  t.match(await opened.text("#export-fault"), /choose an export/);
  for (const [name, chosen] of [
    ["nonce", { export: archive, nonce: "00" }],
    ["known", { export: archive, known: [Buffer.from("{}")] }],
    ["release", { export: archive, release: [madeRelease({}), Buffer.from("{}")] }],
    ["release", { export: archive, release: [Buffer.alloc(4_000_000, " ")] }],
    ["downtime", { export: archive, downtime: "yesterday" }],
    ["sample", { export: archive, sample: "0" }],
    ["sample", { export: archive, sample: "3" }],
    ["sample", { export: archive, sample: "3", filter: "colour=red", nonce: "00".repeat(32) }],
  ] as const) {
    await opened.page.reload();
    await opened.choose({ ...chosen, policy: log.policy("w1") } as Chosen);
    await opened.page.click("#start");
    await opened.page.waitForSelector(`#${name}[aria-invalid="true"]`);
    t.not(await opened.text(`#${name}-fault`), "", name);
    t.equal(await opened.text("#report"), "");
    await opened.page.waitForSelector(`#${name}:focus`);
  }
  t.strictSame(opened.errors, []);
});

t.test("its policy is in force: no other script runs, and nothing leaves", async (t) => {
  t.match(
    HTML,
    /<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; form-action 'none'; base-uri 'none'">/,
  );
  t.notMatch(
    HTML,
    /innerHTML|outerHTML|insertAdjacent|document\.write|DOMParser|\beval\(|new Function|\bfetch\(|XMLHttpRequest/,
  );
  const injected =
    "<script>globalThis.ran = true</script><img src=https://example.org/a.png onerror='globalThis.ran = true'>";
  const changed = await openPage(t, browser, {
    change: (html) => html.replace("<main>", `<main>${injected}`),
  });
  t.equal(
    await changed.page.evaluate("globalThis.ran"),
    undefined,
    "an inline script that somebody added",
  );
  const altered = await openPage(t, browser, {
    change: (html) => html.replace('"use strict"', '"use strict";;'),
  });
  await altered.page.evaluate("document.getElementById('start').click()");
  t.equal(await altered.text("#export-fault"), "", "its own script, altered, does not run");

  t.strictSame(
    [...changed.requests, ...altered.requests].filter(
      (url) => !url.startsWith("file:") && !url.endsWith("/a.png"),
    ),
    [],
  );

  const { url, reached } = await listeningHost(t);
  const opened = await openPage(t, browser, { isOffline: false });
  await opened.page.evaluate(everyWayOut(url));
  for (const directive of [
    "script-src-elem",
    "img-src",
    "style-src-elem",
    "frame-src",
    "media-src",
    "form-action",
    "connect-src",
  ])
    await opened.page.waitForFunction(`breaches.includes("${directive}")`);
  t.equal(await opened.page.evaluate("globalThis.ran"), undefined);
  t.strictSame(reached, [], "nothing reaches a host that would answer");

  const open = await openPage(t, browser, {
    isOffline: false,
    change: (html) => html.replace(/<meta http-equiv[^>]+>/, ""),
  });
  await open.page.evaluate(everyWayOut(url));
  await untilFound("without the policy the same attempts get out", () => reached.length >= 5);
});

/** A host that counts what comes to it. */
async function listeningHost(t: Test): Promise<{ url: string; reached: string[] }> {
  const reached: string[] = [];
  const server = createServer((request, response) => {
    reached.push(request.url ?? "");
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, reached };
}

/** A script that tries them, and one of its own. */
function everyWayOut(url: string): string {
  return `
    for (const [tag, attributes] of [
      ["script", { src: "${url}/script" }], ["img", { src: "${url}/img" }], ["video", { src: "${url}/video" }],
      ["link", { rel: "stylesheet", href: "${url}/link" }], ["iframe", { src: "${url}/iframe", name: "within" }],
      ["object", { data: "${url}/object" }], ["script", { textContent: "globalThis.ran = true" }],
    ]) document.body.append(Object.assign(document.createElement(tag), attributes));
    const form = Object.assign(document.createElement("form"), { action: "${url}/form", method: "post", target: "within" });
    document.body.append(form);
    form.submit();
    navigator.sendBeacon("${url}/beacon", "x");
    try { new WebSocket("${url.replace("http", "ws")}/socket"); } catch {}
    fetch("${url}/fetch").catch(() => {});`;
}

t.test("the report can be saved, and is a known checkpoint of the next check", async (t) => {
  const { log, archive } = eventfulLog();
  const opened = await openPage(t, browser);
  const chosen = { export: archive, policy: log.policy("w1") };
  const report = await opened.check(chosen);
  const [download] = await Promise.all([
    opened.page.waitForEvent("download"),
    opened.page.click("#save"),
  ]);
  t.equal(download.suggestedFilename(), "audit-report.json");
  const saved = readFileSync(await download.path());
  t.strictSame(JSON.parse(saved.toString()), report);
  await opened.page.reload();
  t.match((await opened.check({ ...chosen, known: [saved] })).verdicts["APPEND-ONLY"], {
    verdict: "PASS",
  });
});

t.test(
  "keyboard alone: every field has a label, Enter checks, the report takes the focus",
  async (t) => {
    const { log, archive } = eventfulLog();
    const opened = await openPage(t, browser);
    const { page } = opened;
    for (const input of await page.locator("input").all()) {
      const id = await input.getAttribute("id");
      t.equal(await page.locator(`label[for="${id}"]`).count(), 1, `a label for ${id}`);
    }
    await opened.choose({ export: archive, policy: log.policy("w1"), nonce: "cd".repeat(32) });
    const reached: string[] = [];
    await page.focus("#export");
    for (let presses = 0; presses < 6; presses++) {
      await page.keyboard.press("Tab");
      reached.push(
        await page.evaluate<string>(
          "document.activeElement.id || document.activeElement.localName",
        ),
      );
    }
    t.strictSame(reached, ["policy", "known", "release", "nonce", "summary", "start"]);
    await page.focus("#nonce");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#json", { state: "attached" });
    await page.waitForSelector("#report:focus");
    t.match(
      await page.getAttribute("svg[role=img]", "aria-label"),
      /log: 1 interruptions; witnesses: 1 interruptions; p: 1 interruptions/,
    );
  },
);

t.test("shows itself in light, in dark and on paper", async (t) => {
  const { log, archive } = eventfulLog();
  const opened = await openPage(t, browser);
  await opened.check({ export: archive, policy: log.policy("w1") });
  const ground = () =>
    opened.page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  await opened.page.emulateMedia({ colorScheme: "light" });
  const light = await ground();
  await opened.page.emulateMedia({ colorScheme: "dark" });
  t.not(await ground(), light);
  await opened.page.emulateMedia({ media: "print" });
  t.notOk(await opened.page.isVisible("#form"), "on paper the form is gone");
  t.ok(await opened.page.isVisible("table.verdicts"));
  t.ok(await opened.page.isVisible(".picture"));
});
