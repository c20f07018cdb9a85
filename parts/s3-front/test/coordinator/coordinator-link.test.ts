/** The link with coordinators of other releases; those are scripts, for the real one is of this release. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { untilClosed } from "@resontech/house/until-closed";
import t, { type Test } from "tap";
import { CoordinatorLink, CoordinatorUnavailable } from "../../src/coordinator/coordinator-link.ts";
import { Directory } from "../../src/coordinator/directory.ts";

type Line = { hello?: unknown; id?: number };

async function linked(
  t: Test,
  answer: (line: Line, socket: Socket) => object | null,
): Promise<{ link: CoordinatorLink; heard: Line[] }> {
  // Short: a socket's path may have 107 bytes.
  const dir = mkdtempSync(join(tmpdir(), "rtl-"));
  const heard: Line[] = [];
  const server = createServer((socket) => {
    createInterface({ input: socket }).on("line", (text) => {
      const line = JSON.parse(text) as Line;
      heard.push(line);
      const said = answer(line, socket);
      if (said !== null && socket.writable) socket.write(`${JSON.stringify(said)}\n`);
    });
    socket.on("error", () => {});
  });
  server.listen(join(dir, "sock"));
  await once(server, "listening");
  const link = new CoordinatorLink(join(dir, "sock"));
  t.teardown(() => {
    link[Symbol.dispose]();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { link, heard };
}

t.test("it says its versions first, and passes over what a newer coordinator adds", async (t) => {
  const { link, heard } = await linked(t, ({ hello, id }) =>
    hello === undefined
      ? { id, ok: true, ask: "owner", owner: "u_1", ofANewerRelease: { deep: [1] } }
      : { hello: "agreed", protocol: 1, ofANewerRelease: 1 },
  );
  const asked = { bucket: "alice-1" };
  t.same(await link.ask("owner", asked, 5_000), { id: 1, ok: true, ask: "owner", owner: "u_1" });
  t.same(await link.ask("owner", asked, 5_000), { id: 2, ok: true, ask: "owner", owner: "u_1" });
  t.same(heard[0], { hello: { min: 1, max: 3 } });
  t.equal(await link.version(5_000), 1);
  t.equal(heard.filter(({ hello }) => hello !== undefined).length, 1, "once for each connection");
});

t.test("a refusal is what its questions fail with, at once", async (t) => {
  const message =
    "the S3 front speaks front protocol 1 to 2, the coordinator 3 to 4: upgrade the S3 front";
  const { link } = await linked(t, ({ hello }, socket) => {
    if (hello === undefined) return null;
    socket.end(`${JSON.stringify({ hello: "refused", code: "protocol_unsupported", message })}\n`);
    return null;
  });
  await t.rejects(link.version(5_000), {
    constructor: CoordinatorUnavailable,
    message: /refused|unsupported/,
  });
  for (let time = 0; time < 2; time++)
    await t.rejects(link.ask("owner", { bucket: "alice-1" }, 5_000), {
      constructor: CoordinatorUnavailable,
      message: /protocol_unsupported: the S3 front speaks front protocol 1 to 2, the coordinator 3/,
    });
});

t.test("whose a key pair was is forgotten when the coordinator says that it is gone", async (t) => {
  let socket: Socket | null = null;
  const { link, heard } = await linked(t, ({ hello, id }, to) => {
    socket = to;
    if (hello !== undefined) return { hello: "agreed", protocol: 3 };
    const user = { kind: "user", subject: "u_1", bucket: { name: "b-1", createdAt: 1 } };
    return { id, ok: true, ask: "principal", ...user };
  });
  const directory = new Directory(link);
  const questions = () => heard.filter(({ id }) => id !== undefined).length;
  for (const _time of [1, 2]) t.match(await directory.principal("RT1"), { subject: "u_1" });
  await directory.principal("RT2");
  t.equal(questions(), 2, "each is asked for once");
  const told = new Promise<void>((resolve) => link.onForget(() => resolve()));
  socket!.write(`${JSON.stringify({ forget: ["RT1"] })}\n`);
  await told;
  await directory.principal("RT1");
  await directory.principal("RT2");
  t.equal(questions(), 3, "that one alone is asked for again");
  const ended = untilClosed(socket!);
  socket!.destroy();
  await ended;
  // The link may not have seen the end yet.
  const again = async (): Promise<unknown> => await directory.principal("RT3").catch(again);
  await again();
  await directory.principal("RT2");
  t.ok(questions() >= 5, "after a break nothing is remembered: it may have missed a word");
});
