import t from "tap";
import { abortable } from "../src/abortable.ts";

t.test("waits for the answer, or for the signal, whichever comes first", async (t) => {
  const { signal } = new AbortController();
  t.equal(await abortable(Promise.resolve(1), signal), 1);
  await t.rejects(abortable(Promise.reject(new Error("no")), signal), { message: "no" });
  const stop = new AbortController();
  const waiting = abortable(new Promise(() => {}), stop.signal);
  stop.abort(new Error("stop"));
  await t.rejects(waiting, { message: "stop" });
  await t.rejects(
    abortable(new Promise(() => {}), stop.signal),
    { message: "stop" },
    "one that was aborted before",
  );
});
