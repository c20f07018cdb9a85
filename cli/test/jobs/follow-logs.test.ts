/** Whose logs are read, and how the end of each replica is told. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { printLogs } from "../../src/jobs/follow-logs.ts";

const ended = (attempt: number, message: string) => ({
  ...{ member: `job-1-a${attempt}-replica`, role: "replica", site: null, attempt, storedBytes: 2 },
  ...{ state: "RELEASED", reason: "payload_exited", message },
});
/** As the appliance lists them: the newest first. */
const list = [
  { ...ended(13, ""), state: "RUNNING", reason: null, message: null },
  ...Array.from({ length: 12 }, (_, at) => ended(12 - at, `exit code ${12 - at}`)),
];
const asked: string[] = [];
const server = createServer((request, response) => {
  const [path = ""] = (request.url ?? "").split("?", 1);
  asked.push(path);
  const member = path.split("/")[5];
  const text = `${member}\n`;
  const part = { offset: 0, end: text.length, storedBytes: text.length, text };
  response.end(JSON.stringify(member === undefined ? list : part));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
t.teardown(() => {
  server.close();
  server.closeAllConnections();
});
const settings = {
  baseUrl: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  ...{ ca: null, project: null, credential: async () => "rpk_a" },
};

async function read(areReplicas: boolean): Promise<string[]> {
  const lines: string[] = [];
  await printLogs(
    settings,
    "job-1",
    {
      ...{ of: null, areReplicas, tailBytes: null, isFollowed: false },
      isOver: async () => false,
    },
    (_member, text) => void lines.push(text.trimEnd()),
    (text) => void lines.push(text),
  );
  return lines;
}

t.test("of a deployment each replica is told, and why it ended", async (t) => {
  const lines = await read(true);
  t.same(lines.slice(0, 2), [
    "== replica job-1-a1-replica: its log is left out",
    "== replica job-1-a1-replica ended: payload_exited: exit code 1",
  ]);
  t.same(lines.slice(-5), [
    "== replica job-1-a12-replica",
    "job-1-a12-replica",
    "== replica job-1-a12-replica ended: payload_exited: exit code 12",
    "== replica job-1-a13-replica",
    "job-1-a13-replica",
  ]);
  t.equal(asked.length, 11, "the list, and the newest ten");
});

t.test("of a job the newest attempt is", async (t) => {
  t.same(await read(false), ["job-1-a13-replica"]);
});
