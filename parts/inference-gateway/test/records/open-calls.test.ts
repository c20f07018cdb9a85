import t from "tap";
import { openCalls } from "../../src/records/open-calls.ts";

const call = (id: string): string =>
  JSON.stringify({
    ...{
      kind: "call",
      id,
      at: "2026-01-01T00:00:00.000Z",
      deployment: "d",
      project: "p",
      call: "predict",
    },
    ...{ replica: "r", keySha256: "0".repeat(64), requestSha256: "0".repeat(64), requestBytes: 0 },
  });
const end = (id: string): string =>
  JSON.stringify({
    ...{ kind: "end", id, at: "2026-01-01T00:00:01.000Z", outcome: "answered", status: 200 },
    ...{ answerSha256: "0".repeat(64), answerBytes: 0, usage: null },
  });

t.test("a call without an end is open, and a line that was cut counts as none", (t) => {
  t.same(openCalls([call("a"), call("b"), end("a"), call("c"), '{"kind":"end","id":"c']), [
    "b",
    "c",
  ]);
  t.same(openCalls([call("a"), end("a"), end("a"), ""]), []);
  t.end();
});
