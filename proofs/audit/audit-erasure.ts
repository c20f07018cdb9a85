/**
 * What was erased is nowhere any more. Events about several people carry known values; the proof keeps values, salts, keys and
 * tokens for itself. Some of the people are erased while events keep coming, and once the last epoch is over that had copied their keys,
 * every byte of every file of auditd, vault, audit-out and the coordinator's database is searched: databases with their free pages
 * and logs, spools, index, copies, and what the processes print. The same search finds them before, in each form that it looks for.
 *
 * Copies that were kept from before are attacked with what is left: every 32 bytes in a row of every file are tried as the key. The
 * same attack opens them with the files from before the erasure, and with those from before the end of the epochs; with those that
 * are left it opens what was copied since, and a key that is put among other bytes it finds in each form.
 * A bundle that was handed out with disclosures lies elsewhere, and is beyond reach: the erasure says how many there are.
 *
 * `npm run prove -- audit-erasure [EVENTS_EACH]`; 500 for each of 8 people, 4 of them erased, unless said otherwise. Needs root:
 * audit-out's configuration.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { AuditOutInstance } from "./instances/audit-out-instance.ts";
import { attackCopies } from "./erasure/attack-copies.ts";
import { epochsIn, KeptCopies, type KeyCopy, snapshot } from "./erasure/kept-copies.ts";
import type { Said } from "./erasure/said.ts";
import { type Site, startSite } from "./erasure/site.ts";
import { type Remnants, Sought } from "./erasure/remnants.ts";
import { disclosureOf, erasureOf } from "./instances/vault-instance.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const ERASED = ["usr-gone-1", "usr-gone-2", "usr-gone-3", "usr-gone-4"];
const KEPT = ["usr-kept-1", "usr-kept-2", "usr-kept-3", "usr-kept-4"];
const EVERYBODY = [...ERASED, ...KEPT];
const EPOCH_MS = 5_000;
const EPOCH_LIFE_MS = 20_000;
const LIMIT_MS = 120_000;
/** Of so many events one has a long value. */
const ONE_LONG_IN = 50;
/** Of so many events one is the coordinator's. */
const ONE_RECORD_IN = 5;
const SEARCHES_AT_ONCE = 50;

type Erasure = {
  erased?: { count: number }[];
  finalAfter?: string;
  handedOut?: number;
  confirmed?: boolean;
};

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const [eventsEach = 500] = args.map(Number);
  const elsewhere = mkdtempSync(join(tmpdir(), "rta-elsewhere-"));
  try {
    await using site = await startSite(EPOCH_MS, EPOCH_LIFE_MS);
    try {
      return await eraseAndAttack(site, elsewhere, eventsEach, progress);
    } catch (error) {
      for (const line of site.lastPrinted()) progress(line);
      throw error;
    }
  } finally {
    rmSync(elsewhere, { recursive: true, force: true });
  }
}

async function eraseAndAttack(
  site: Site,
  elsewhere: string,
  eventsEach: number,
  progress: (line: string) => void,
): Promise<ProofResult> {
  const { root, vault, out, coordinator, origin } = site;
  const handedOut = join(elsewhere, "handed-out");
  const keptFolder = join(elsewhere, "kept");
  for (const folder of [handedOut, keptFolder]) mkdirSync(folder);
  const rootBefore = join(elsewhere, "before");
  const rootBetween = join(elsewhere, "between");

  const recordsEach = Math.ceil(eventsEach / ONE_RECORD_IN);
  const recorded = await sayAll(recordsEach, site.record);
  const waiting = await clearOf(recorded).in(coordinator.folder);
  await coordinator.attach();
  await coordinator.drained();
  const delivered = await clearOf(recorded).in(coordinator.folder);
  progress(
    `${recorded.length} records of the coordinator; delivered, their values are in ${delivered.where.join(", ") || "no file"}`,
  );
  const said = [...recorded, ...(await sayAll(eventsEach - recordsEach, site.say))];
  const gone = said.filter(({ subject }) => ERASED.includes(subject));
  const clear = clearOf(said);
  const inSpool = await clear.in(root);
  progress(
    `${said.length} events; before the vault began, ${inSpool.where.join(", ")} held values`,
  );

  // What goes wrong is told, and must not be told with the value.
  const findable = gone.filter(({ isLong }) => !isLong);
  const [{ field, value }] = findable as [Said];
  const refused = [await isRefused(out.holding(field, value), "vault_unavailable")];
  vault.start();
  await until(
    async () => (await vault.status())?.sealed === said.length,
    "the vault has sealed all",
  );
  await until(async () => site.isSpoolEmpty(), "the spool is empty");
  await until(
    async () => coordinator.logBytes === 0,
    "the coordinator has emptied its write-ahead log",
  );
  const query = new URLSearchParams({ holds: `${field}=`, [value]: value }).toString();
  refused.push(await isRefused(out.get(`/events?${query}`), "query_invalid"));
  refused.push("error" in (await vault.askAll({ verb: "token", field, value }))[0]!);
  const inClear = await clear.in(root);
  const sought = clearOf(said);
  const keys = vault.keysOf(ERASED);
  for (const { key, wrapped } of keys) {
    sought.add("key", key);
    sought.add("wrapped key", wrapped);
  }
  for (const sealed of vault.sealedOf(ERASED)) sought.add("sealed value", sealed.subarray(0, 32));
  const tokenOf = vault.tokenMaker();
  for (const one of gone) sought.add("token", tokenOf(one.field, one.value));
  const last = said.slice(-EVERYBODY.length).filter(({ isLong }) => !isLong);
  await until(async () => (await foundBy(out, last)) === last.length, "the index has all tokens");
  const foundBefore = await foundBy(out, findable);
  const before = await sought.in(root);
  const planted = await plantEach(sought, root);
  progress(
    `sealed; ${Object.keys(before.found).join(", ")} are found; ${planted.found} of ${planted.planted} planted forms are`,
  );
  progress(`searches by value find ${foundBefore} of ${findable.length}`);

  const bundle = await vault.askAll(disclosureOf(origin, ERASED));
  writeFileSync(
    join(handedOut, "disclosed.jsonl"),
    bundle.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
  const stop = new AbortController();
  const kept = new KeptCopies(keptFolder, vault.config);
  await kept.keepSealed();
  const keeping = kept.keepKeys(stop.signal);
  snapshot(root, rootBefore);
  const load = keepSaying(site, stop.signal);
  const erasingFromMs = Date.now();
  const replies = await Promise.all(ERASED.map((subject) => vault.askAll(erasureOf(subject))));
  const erasedAtMs = Date.now();
  snapshot(root, rootBetween);
  const erasures = replies.map(([reply]) => reply as Erasure);
  const finalMs = Math.max(...erasures.map(({ finalAfter }) => Date.parse(finalAfter ?? "")));
  const atOnce = await sought.in(rootBetween);
  progress(
    `erased; at once ${atOnce.where.length} files hold something; copies end at ${new Date(finalMs).toISOString()}`,
  );
  const onePerPerson = ERASED.map((erased) => findable.find(({ subject }) => subject === erased)!);
  await until(
    async () => (await foundBy(out, onePerPerson)) === 0,
    "the index has dropped the tokens",
  );
  const tokensGoneAtMs = Date.now();
  await until(async () => Date.now() > finalMs + 2_000, "the last epoch is over");
  const foundAfter = await foundBy(out, findable);
  const after = await sought.in(root);
  stop.abort();
  await keeping;
  const meanwhile = await load;
  await coordinator.drained();
  const keptCount = said.length - gone.length + meanwhile;
  await until(
    async () => (await vault.status())?.sealed === keptCount,
    "what came meanwhile is sealed",
  );
  const others = said.filter(({ subject, isLong }) => KEPT.includes(subject) && !isLong);
  const othersFound = await foundBy(out, others);
  const status = await vault.status();
  await site.stop();
  const stopped = await sought.in(root);
  const beyond = await sought.in(handedOut);
  progress(`stopped; ${stopped.where.length} of ${stopped.files} files hold something`);

  const {
    at,
    older,
    living,
    planted: plantedKey,
    attacked,
  } = await attackCopies(
    {
      ...{
        kept,
        askedAtMs: erasingFromMs,
        kek: vault.kek,
        said,
        erased: ERASED,
        somebody: KEPT[0]!,
      },
      ...{ epochsDir: vault.config.epochsDir, planted: join(elsewhere, "planted") },
      folders: { before: [rootBefore], between: [rootBetween], after: [root, keptFolder] },
    },
    progress,
  );
  const livingIn = (folder: string): string[] => {
    const epochs = epochsIn(join(folder, "epochs"));
    return older.filter(({ epoch }) => epochs.includes(epoch)).map(({ name }) => name);
  };
  const openedOf = (copies: readonly KeyCopy[], moment: keyof typeof at): number =>
    copies.filter(({ name }) => at[moment].copies.includes(name)).length;
  const erasedCount = erasures.reduce(
    (sum, { erased = [] }) => sum + erased.reduce((all, { count }) => all + count, 0),
    0,
  );
  const checks = {
    found_in_the_coordinator_before_delivery:
      waiting.found.value !== undefined && waiting.found.salt !== undefined,
    found_in_its_log_once_delivered: delivered.found.value !== undefined,
    found_in_clear_before_sealing:
      inSpool.found.value !== undefined && inSpool.found.salt !== undefined,
    nothing_in_clear_once_sealed: inClear.where.length === 0,
    sealed_found_before_erasure: ["wrapped key", "sealed value", "token"].every(
      (kind) => kind in before.found,
    ),
    every_planted_form_found: planted.found === planted.planted,
    every_value_searched_before: foundBefore === findable.length,
    what_goes_wrong_is_refused: refused.every(Boolean),
    all_erased:
      erasedCount === gone.length && erasures.every(({ confirmed }) => confirmed === true),
    handed_out_is_told:
      erasures.every(({ handedOut: times }) => times === 1) && beyond.found.value !== undefined,
    nothing_but_tokens_found_at_once: Object.keys(atOnce.found).every((kind) => kind === "token"),
    no_value_searched_after: foundAfter === 0,
    nothing_found_after_the_epochs: after.where.length === 0,
    nothing_found_when_stopped: stopped.where.length === 0,
    all_have_printed: site.printed().every((bytes) => bytes > 0),
    copies_open_before:
      livingIn(rootBefore).length > 0 &&
      livingIn(rootBefore).every((name) => at.before.copies.includes(name)),
    values_open_before:
      at.before.valuesByCopies === gone.length && at.before.valuesByKeys === gone.length,
    copies_open_until_their_epochs_end: livingIn(rootBetween).every((name) =>
      at.between.copies.includes(name),
    ),
    values_open_by_copies_alone_until_then:
      at.between.valuesByCopies === gone.length && at.between.valuesByKeys === 0,
    no_copy_from_before_opens_after: openedOf(older, "after") === 0,
    no_value_opens_after: at.after.valuesByCopies === 0 && at.after.valuesByKeys === 0,
    newer_copies_open_after: openedOf(living, "after") === living.length && at.after.findsSomebody,
    planted_keys_open: plantedKey.opened === plantedKey.forms,
    the_others_are_kept:
      status?.sealed === keptCount && status.fault === null && othersFound === others.length,
  };
  return {
    ok: Object.values(checks).every(Boolean),
    figures: {
      ...checks,
      ...{
        people: EVERYBODY.length,
        people_erased: ERASED.length,
        commitments_erased: erasedCount,
      },
      ...{
        keys: keys.length,
        tokens: gone.length,
        records_of_the_coordinator: recorded.length,
        events_meanwhile: meanwhile,
      },
      ...{ planted_forms: planted.planted, planted_forms_found: planted.found },
      searches_by_value: {
        asked: findable.length,
        found_before: foundBefore,
        found_after: foundAfter,
      },
      ...{
        forms_looked_for: sought.forms,
        files_searched: stopped.files,
        bytes_searched: stopped.bytes,
      },
      printed_bytes: site.printed().reduce((sum, bytes) => sum + bytes, 0),
      still_found: namesOf(after, stopped),
      copies_kept: older.length,
      copies_opened: {
        before: openedOf(older, "before"),
        between: openedOf(older, "between"),
        after: openedOf(older, "after"),
      },
      copies_of_living_epochs: { kept: living.length, opened_after: openedOf(living, "after") },
      planted_keys: plantedKey,
      values_opened: {
        before: at.before.valuesByCopies,
        between: at.between.valuesByCopies,
        after: at.after.valuesByCopies + at.after.valuesByKeys,
      },
      ...{
        files_attacked: attacked.files,
        windows: attacked.windows,
        distinct_bytes: attacked.distinctBytes,
      },
      ...{ keys_tried: attacked.keysTried, windows_without_a_key: attacked.keysSkipped },
      final_after_s: seconds(finalMs - erasedAtMs),
      erasure_s: seconds(erasedAtMs - erasingFromMs),
      tokens_gone_after_s: seconds(tokensGoneAtMs - erasedAtMs),
      bundles_beyond_reach: readdirSync(handedOut).length,
    },
  };
}

/** So many about each of them. */
async function sayAll(each: number, sayOne: Site["say"]): Promise<Said[]> {
  const said: Said[] = [];
  for (let n = 0; n < each; n++)
    said.push(
      ...(await Promise.all(EVERYBODY.map((subject) => sayOne(subject, n % ONE_LONG_IN === 1)))),
    );
  return said;
}

/** Events of those who stay, while others are erased. @returns how many */
async function keepSaying(site: Site, signal: AbortSignal): Promise<number> {
  let count = 0;
  for (; !signal.aborted; count++) {
    const sayOne = count % ONE_RECORD_IN === 0 ? site.record : site.say;
    await sayOne(KEPT[count % KEPT.length]!, false);
    await pause(20);
  }
  return count;
}

/** What opens commitments of the people who are erased. */
function clearOf(said: readonly Said[]): Sought {
  const sought = new Sought();
  for (const { subject, salt, value } of said) {
    if (!ERASED.includes(subject)) continue;
    sought.addText("value", value);
    sought.add("salt", Buffer.from(salt, "hex"));
  }
  return sought;
}

/** @returns how many values lead a search to one entry, that about their person */
async function foundBy(out: AuditOutInstance, said: readonly Said[]): Promise<number> {
  let count = 0;
  for (let at = 0; at < said.length; at += SEARCHES_AT_ONCE) {
    const some = said.slice(at, at + SEARCHES_AT_ONCE);
    const found = await Promise.all(some.map(({ field, value }) => out.holding(field, value)));
    count += some.filter(
      ({ subject }, n) => found[n]!.length === 1 && found[n]![0]!.object === subject,
    ).length;
  }
  return count;
}

async function isRefused(asked: Promise<unknown>, code: string): Promise<boolean> {
  return await asked.then(
    () => false,
    (error: unknown) => error instanceof Error && error.message.includes(code),
  );
}

/** Each form in a file of its own. */
async function plantEach(
  sought: Sought,
  root: string,
): Promise<{ planted: number; found: number }> {
  const folder = mkdtempSync(join(root, "planted-"));
  try {
    const samples = sought.samples;
    let found = 0;
    for (const [at, { bytes }] of samples.entries()) {
      const inner = mkdtempSync(join(folder, `${at}-`));
      writeFileSync(
        join(inner, "file"),
        Buffer.concat([randomBytes(1_000 + at), bytes, randomBytes(1_000)]),
      );
      found += (await sought.in(inner)).where.length;
    }
    return { planted: samples.length, found };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Names of files, and what is in some of them. */
function namesOf(...all: Remnants[]): string[] {
  return [
    ...new Set(
      all.flatMap(({ where, found }) =>
        where.map((name) => `${name}: ${Object.keys(found).join(", ")}`),
      ),
    ),
  ];
}

function seconds(ms: number): number {
  return Number((ms / 1_000).toFixed(2));
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const limit = Date.now() + LIMIT_MS; !(await holds()); await pause(50))
    if (Date.now() > limit) throw new Error(`not within ${LIMIT_MS / 1_000} s: ${what}`);
}
