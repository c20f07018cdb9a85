/** Bodies with a url and callbacks as the unmodified public client sends them, and the receiver's check as our page has it. */
import { readdirSync, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { clientPython, runPython } from "@resontech/house/client-venv";
import { drawPredictKey } from "@resontech/coordinator/predict-keys";
import { OutsideServer } from "@resontech/house/outside-server";
import { PlayedGateway } from "./helper/played-gateway.ts";

t.setTimeout(600_000);
const PAGE = join(import.meta.dirname, "../../../docs/researcher/predictors.md");
const { key, sha256, callbackSecret } = drawPredictKey();

const gateway = await PlayedGateway.open([
  {
    ...{ deployment: "job-1", name: "echo", api: "predict", createdAt: 0, project: "p_1" },
    ...{ aliases: [], keySha256: sha256, visibility: "PRIVATE", maxOngoingRequests: 4 },
    ...{ generation: 1, state: "HOT", wakeMs: 0, callback: { url: null, secret: callbackSecret } },
  },
]);
t.teardown(() => gateway[Symbol.asyncDispose]());
const outside = await OutsideServer.open(gateway.server);
t.teardown(() => outside[Symbol.asyncDispose]());
gateway.allow([outside.allowed]);

// The client speaks TCP alone.
const door = createServer((client) => {
  const inner = connect(gateway.socket);
  client.on("error", () => inner.destroy());
  inner.on("error", () => client.destroy());
  client.pipe(inner).pipe(client);
}).listen(0, "127.0.0.1");
await once(door, "listening");
t.teardown(() => void door.close());
const env = {
  URL: `http://127.0.0.1:${(door.address() as AddressInfo).port}/inference/job-1`,
  ...{ KEY: key, OUTSIDE: outside.url("") },
};
const python = await clientPython("0.3.0");

t.test("predict_url gives the predictor the bytes behind it, and tells why it can't", async (t) => {
  outside.answer = (response) => void response.end("pixels");
  t.same(
    await runPython(
      python,
      `
import json, os
from resontech import InferenceClient
from resontech.exceptions import ValidationError
client = InferenceClient(os.environ["URL"], os.environ["KEY"])
answer = client.predict_url(os.environ["OUTSIDE"] + "/cat.png")
try:
    client.predict_url("https://other.example/cat.png")
    refused = None
except ValidationError as error:
    refused = "may dial" in str(error)
print(json.dumps([answer, refused]))
`,
      env,
    ),
    [{ ok: true }, true],
  );
  t.equal(gateway.engine.said, "pixels");
});

t.test("each form of a call gives the predictor its bytes, many at once", async (t) => {
  const asked = `
import json, os
from resontech import InferenceClient
client = InferenceClient(os.environ["URL"], os.environ["KEY"])
print(json.dumps(`;
  const said = async (call: string) => [
    await runPython(python, `${asked}${call}))`, env),
    gateway.engine.said,
  ];
  t.same(await said('client.predict(b"hello", request_id="r-2")'), [{ ok: true }, "hello"]);
  t.same(await said('client.predict_json({"a": 1})'), [{ ok: true }, '{"a": 1}']);
  const [, sent] = await said('client.predict_b64(b"hi")');
  t.equal(sent, '{"data_b64": "aGk="}');
  const many = "client.predict_many([str(at).encode() for at in range(20)], concurrency=4)";
  t.same(
    (await said(many))[0],
    Array.from({ length: 20 }, () => ({ ok: true })),
  );
});

t.test("callback_url is told the answer, and the page's check knows it as genuine", async (t) => {
  outside.heard.length = 0;
  outside.answer = (response) => void response.end();
  await runPython(
    python,
    `
import json, os
from resontech import InferenceClient
client = InferenceClient(os.environ["URL"], os.environ["KEY"])
client.predict(b"x", request_id="r-1", callback_url=os.environ["OUTSIDE"] + "/hook")
print(json.dumps(None))
`,
    env,
  );
  for (let tries = 0; tries < 2_000 && readdirSync(gateway.callbacksDir).length > 0; tries++)
    await sleep(20);
  const [heard] = outside.heard;
  t.match(heard, { path: "/hook", body: '{"ok":true}', headers: { "x-request-id": "r-1" } });
  const [, check = ""] =
    /```python\n(import hashlib[\s\S]*?)```/.exec(readFileSync(PAGE, "utf8")) ?? [];
  t.match(check, /def is_genuine/);
  const judged = await runPython(
    python,
    `
import json, os, httpx
PREDICT_KEY = os.environ["KEY"]
${check}
headers, body = httpx.Headers(json.loads(os.environ["HEADERS"])), os.environ["BODY"].encode()
other = httpx.Headers({**headers, "X-Resontech-Status": "500"})
print(json.dumps([is_genuine(headers, body), is_genuine(headers, body + b" "), is_genuine(other, body)]))
`,
    { ...env, HEADERS: JSON.stringify(heard?.headers), BODY: heard?.body ?? "" },
  );
  t.same(judged, [true, false, false]);
});
