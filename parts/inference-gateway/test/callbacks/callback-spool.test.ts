import { createHmac } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import t from "tap";
import { CallbackSpool, CallbacksFull } from "../../src/callbacks/callback-spool.ts";
import { keptAnswer, SECRET } from "../helper/kept-answer.ts";

const URL = "https://hooks.example/a";
const bodyOf = (said: string) => Readable.from([Buffer.from(said)]);
const noError = (error: unknown) => {
  throw error;
};

t.test("what was kept is there in the next life, and gone once it is removed", async (t) => {
  const dir = join(t.testdir(), "callbacks");
  const spool = await CallbackSpool.open(dir, noError);
  const answer = keptAnswer(URL);
  const callback = await spool.keep(answer, SECRET, bodyOf('{"ok":1}'));
  const signed = `1796000000\n${answer.id}\nr-1\njob-1\n200\n{"ok":1}`;
  t.match(callback, {
    ...{ ...answer, bytes: 8, tries: 0 },
    signature: `v1=${createHmac("sha256", SECRET).update(signed).digest("hex")}`,
  });
  t.equal(statSync(dir).mode & 0o777, 0o700);
  for (const name of readdirSync(dir)) {
    t.equal(statSync(join(dir, name)).mode & 0o777, 0o600, name);
    t.notMatch(readFileSync(join(dir, name), "utf8"), SECRET);
  }
  await spool.update({ ...callback, tries: 3, nextAt: 7 });
  const next = await CallbackSpool.open(dir, noError);
  const [found] = next.all();
  t.same(found, { ...callback, tries: 3, nextAt: 7 });
  t.equal(await text(next.read(callback)), '{"ok":1}');
  await next.remove(callback);
  t.same(readdirSync(dir), []);
  t.same([...next.all()], []);
});

t.test("what was only begun is gone, and a file that is none of ours harms nobody", async (t) => {
  const dir = t.testdir();
  const [cut, kept] = [keptAnswer(URL), keptAnswer(URL)];
  const spool = await CallbackSpool.open(dir, noError);
  await spool.keep(kept, SECRET, bodyOf("a"));
  writeFileSync(join(dir, `${cut.id}.body`), "half");
  writeFileSync(join(dir, `${kept.id}.json.0123456789abcdef.new`), "{");
  writeFileSync(join(dir, `${keptAnswer(URL).id}.json`), "{}");
  const errors: unknown[] = [];
  const next = await CallbackSpool.open(dir, (error) => errors.push(error));
  t.same(
    [...next.all()].map(({ id }) => id),
    [kept.id],
  );
  t.equal(errors.length, 1);
  t.notOk(readdirSync(dir).includes(`${cut.id}.body`));
});

t.test("so much waits and no more, and one deployment leaves room for others", async (t) => {
  const dir = t.testdir();
  const limits = { all: { bytes: 25, callbacks: 10 }, each: { bytes: 12, callbacks: 3 } };
  const spool = await CallbackSpool.open(dir, noError, limits);
  const keep = (said: string, deployment: string) =>
    spool.keep(keptAnswer(URL, { deployment }), SECRET, bodyOf(said));
  const first = await keep("0123456789", "a");
  await t.rejects(keep("0123456789", "a"), new CallbacksFull(), "of its own");
  t.ok(spool.hasPlace("a"), "a shorter one has room");
  await keep("0123456789", "b");
  await t.rejects(keep("0123456789", "c"), new CallbacksFull(), "of all");
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from("012");
      throw new Error("the replica broke off");
    })(),
  );
  await t.rejects(
    spool.keep(keptAnswer(URL, { deployment: "c" }), SECRET, broken),
    /the replica broke off/,
  );
  t.equal(readdirSync(dir).length, 4, "what was refused or broke off left nothing");
  await spool.remove(first);
  await keep("0123456789", "a");
  for (let n = 0; n < 3; n++) await keep("1", "d");
  t.notOk(spool.hasPlace("d"), "three are as many as one deployment may have");
  await t.rejects(keep("", "d"), new CallbacksFull());
});
