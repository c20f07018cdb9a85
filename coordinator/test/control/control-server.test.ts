import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import { ERROR_CATALOGUE } from "@resontech/contracts/error-catalogue";
import { pino } from "pino";
import t, { type Test } from "tap";
import { ApiError } from "../../src/api-error.ts";
import { type ControlHandler, ControlServer } from "../../src/control/control-server.ts";

const silent = pino({ level: "silent" });
const HEALTH: CoordinatorHealth = {
  ...{
    loopLagMs: 0,
    brake: null,
    plannedStopUntil: null,
    bus: "up",
    database: "ok",
    storage: "ok",
    clockStep: null,
    nodes: [],
    endingKeys: [],
    hasApprover: true,
  },
  audit: { state: "ok", waiting: 0, oldestWaitMs: 0, loopLagMs: 0 },
};
const handle: ControlHandler = async (request) => {
  if (request.verb === "add-user")
    throw new ApiError("user_exists", "there is a user of this name");
  if (request.verb === "maintenance") throw new Error("/var/lib/secret.db is locked");
  return { ok: true, verb: "status", jobs: {}, nodes: [], generation: 7, health: HEALTH };
};

/** In a folder of its own, 0700; a socket's path has room for 107 bytes alone. */
function socketPath(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), "rt-control-"));
  t.teardown(() => rmSync(dir, { recursive: true }));
  return join(dir, "control");
}

async function talk(path: string, lines: string[]): Promise<unknown[]> {
  const socket = connect(path);
  socket.on("error", () => {});
  socket.end(lines.map((line) => `${line}\n`).join(""));
  const answers: unknown[] = [];
  for await (const line of createInterface({ input: socket })) answers.push(JSON.parse(line));
  return answers;
}

t.test("requests are answered in order, bad ones included", async (t) => {
  const path = socketPath(t);
  await using _server = await ControlServer.listen(path, handle, silent);
  t.equal(statSync(path).mode & 0o777, 0o600);
  const answers = await talk(path, [
    '{"verb":"status"}',
    "not json",
    '{"verb":"format-disk"}',
    '{"verb":"status","extra":1}',
    '{"verb":"add-user","username":"alice"}',
    '{"verb":"maintenance","forS":60}',
    '{"verb":"status"}',
  ]);
  const status = { ok: true, verb: "status", generation: 7 };
  const invalid = {
    ok: false,
    code: "validation_failed",
    hint: ERROR_CATALOGUE.validation_failed.hint,
  };
  t.match(answers, [
    ...[status, invalid, invalid, invalid, { ok: false, code: "user_exists" }],
    ...[{ ok: false, code: "internal_error" }, status],
  ]);
  t.notMatch(JSON.stringify(answers), /secret/);
});

t.test("the person who asks comes beside the request, and is no part of it", async (t) => {
  const path = socketPath(t);
  const persons: (string | null)[] = [];
  const noting: ControlHandler = async (request, person) => {
    persons.push(person);
    return await handle(request, person);
  };
  await using _server = await ControlServer.listen(path, noting, silent);
  const answers = await talk(path, [
    '{"verb":"status","person":"anna (sudo: root)"}',
    '{"verb":"status"}',
    '{"verb":"status","person":"a\\u001b"}',
    '{"verb":"join-token","node":"n","ttlS":0}',
  ]);
  t.same(persons, ["anna (sudo: root)", null]);
  t.match(answers.slice(2), [
    { ok: false, code: "validation_failed", message: /person/ },
    { ok: false, code: "validation_failed", message: /ttlS must be >= 1/ },
  ]);
});

t.test("an endless line ends the connection, not the server", async (t) => {
  const path = socketPath(t);
  await using _server = await ControlServer.listen(path, handle, silent);
  const socket = connect(path);
  socket.on("error", () => {});
  socket.write("x".repeat(200_000));
  await new Promise((resolve) => socket.on("close", resolve));
  t.match(await talk(path, ['{"verb":"status"}']), [{ generation: 7 }]);
});

t.test("a folder that lets others in stops the start", async (t) => {
  const path = socketPath(t);
  chmodSync(join(path, ".."), 0o750);
  await t.rejects(ControlServer.listen(path, handle, silent), /0700/);
});
