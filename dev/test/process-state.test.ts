import t from "tap";
import { differences } from "../tests/process-state.ts";

const state = {
  ...{ cwd: "/a", umask: 0o22, env: { A: "1" }, resources: ["PipeWrap", "Timeout"] },
  listeners: { SIGTERM: 1 },
};

t.test("what a file left changed is named, what has gone is not", async (t) => {
  t.same(differences(state, { ...state, resources: [], listeners: {} }), []);
  t.same(
    differences(state, {
      ...{ cwd: "/b", umask: 0o77, env: { B: "2" } },
      resources: ["PipeWrap", "Timeout", "Timeout", "TCPServerWrap"],
      listeners: { SIGTERM: 2, SIGINT: 1 },
    }),
    [
      ...["works in /b", "umask 77", "environment A", "environment B"],
      ...["1 Timeout", "1 TCPServerWrap", "1 listening for SIGTERM", "1 listening for SIGINT"],
    ],
  );
});
