import Database from "better-sqlite3";
import { isTerminal, JOB_STATES, wireState } from "@resontech/contracts/job-states";
import t from "tap";
import { CLIENT_VERSIONS, clientPython, runPython } from "@resontech/house/client-venv";
import { RunningCoordinator } from "../helper/running-coordinator.ts";
import { goodBody, goodFiles, upload } from "../helper/workspace.ts";

const coordinator = await RunningCoordinator.create();
t.teardown(() => coordinator[Symbol.asyncDispose]());
const alice = await coordinator.control("add-user", { username: "alice" });

/** The real kernel's rows, put by hand into each state: no run of a job stands still in all of them. */
const ids: Record<string, string> = {};
for (const state of JOB_STATES) {
  const slug = state.toLowerCase();
  await upload(coordinator.s3, alice.bucketAlias, slug, goodFiles());
  const reply = await coordinator.request("POST", "/api/tasks", alice.platformKey, goodBody(slug));
  ids[state] = String(reply.body["id"]);
}
const db = new Database(coordinator.config.databaseFile);
t.teardown(() => db.close());
const put = db.prepare(
  "UPDATE jobs SET state = ?, ended_at = ?, reason = ?, message = ? WHERE id = ?",
);
for (const state of JOB_STATES) {
  const isBad = isTerminal(state) && state !== "SUCCEEDED";
  put.run(
    state,
    isTerminal(state) ? Date.now() : null,
    isBad ? "user_exception" : null,
    isBad ? "ValueError: 1" : null,
    ids[state],
  );
}

const READ = `
import json, os
from resontech import ResonTech, ResonTechConfig
sdk = ResonTech(ResonTechConfig(base_url=os.environ["BASE_URL"], s3_endpoint=os.environ["S3"], s3_region="garage",
    s3_access_key_id="unused", s3_secret_access_key="unused", dashboard_url=os.environ["BASE_URL"]))
ids = json.loads(os.environ["IDS"])
listed = {job.id: job.state.value for job in sdk.jobs.list()}
print(json.dumps({state: {
    "listed": listed[id],
    "terminal": sdk.jobs.get(id).state.is_terminal,
    "got": sdk.jobs.get(id).state.value,
    "task": sdk._http.get("/api/tasks/" + id),
} for state, id in ids.items()}))`;

type Seen = Record<
  string,
  {
    listed: string;
    got: string;
    terminal: boolean;
    task: { status: string; error: string | null; detail: { state: string } };
  }
>;

for (const version of CLIENT_VERSIONS) {
  t.test(
    `client ${version} reads every state of the machine as one of its own words`,
    async (t) => {
      const env = {
        RESON_API_KEY: alice.platformKey,
        SSL_CERT_FILE: coordinator.s3.caFile,
        BASE_URL: coordinator.url,
        S3: coordinator.s3.endpoint,
        IDS: JSON.stringify(ids),
      };
      const seen = (await runPython(await clientPython(version), READ, env)) as Seen;
      for (const state of JOB_STATES) {
        // The client shows QUEUED as PENDING; a word that it does not know would be PENDING too, and polled for ever.
        const word = wireState(state) === "QUEUED" ? "PENDING" : wireState(state);
        t.match(seen[state], {
          ...{ listed: word, got: word, terminal: isTerminal(state) },
          task: { status: wireState(state), detail: { state } },
        });
        const error = seen[state]?.task.error;
        t.equal(
          typeof error,
          wireState(state) === "FAILED" ? "string" : "object",
          `error of ${state}: ${String(error)}`,
        );
      }
    },
  );
}
