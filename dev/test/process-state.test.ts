import t from "tap";
import { differences } from "../tests/process-state.ts";

const state = { cwd: "/a", umask: 0o22, env: { A: "1" }, resources: ["PipeWrap", "Timeout"] };

t.test("what a file left changed is named, what has gone is not", async (t) => {
  t.same(differences(state, { ...state, resources: [] }), []);
  t.same(
    differences(state, {
      ...{ cwd: "/b", umask: 0o77, env: { B: "2" } },
      resources: ["PipeWrap", "Timeout", "Timeout", "TCPServerWrap"],
    }),
    ["works in /b", "umask 77", "environment A", "environment B", "1 Timeout", "1 TCPServerWrap"],
  );
});
