/** Which requests are of the OpenAI API. */
import t from "tap";
import { openAiTargetOf } from "../../src/openai-surface/openai-target.ts";

t.test("a call is of all deployments or of one", async (t) => {
  t.same(openAiTargetOf("POST", "/v1/chat/completions"), {
    ...{ deployment: null, wish: { kind: "call", call: "chat/completions" } },
  });
  t.same(openAiTargetOf("POST", "/inference/job-1/v1/embeddings?x=1"), {
    ...{ deployment: "job-1", wish: { kind: "call", call: "embeddings" } },
  });
  t.match(openAiTargetOf("POST", "/v1/responses"), { wish: { kind: "call", call: "responses" } });
  t.same(openAiTargetOf("GET", "/v1/models"), { deployment: null, wish: { kind: "models" } });
  t.same(openAiTargetOf("GET", "/v1/models/my%20chat"), {
    ...{ deployment: null, wish: { kind: "model", name: "my chat" } },
  });
});

t.test(
  "what an engine has beside them leads nowhere, and is told in this API's form",
  async (t) => {
    for (const path of [
      ...["/v1/slots", "/v1/props", "/v1/tokenize", "/v1/infill", "/v1/load_lora_adapter"],
      ...["/v1/chat/completions/", "/v1/chat//completions", "/v1/chat%2Fcompletions", "/v1/sleep"],
      ...["/v1/models/a/b", "/v1/models/%zz", "/v1/responses/resp_1", "/v1/health", "/v1/../slots"],
      "/inference/job-1/v1/metrics",
    ])
      t.match(openAiTargetOf("POST", path), { wish: { kind: "none", status: 404 } }, path);
    t.match(openAiTargetOf("GET", "/v1/completions"), { wish: { kind: "none", status: 405 } });
    t.match(openAiTargetOf("DELETE", "/v1/models/a"), { wish: { kind: "none", status: 405 } });
  },
);

t.test("every other address is another's", async (t) => {
  for (const path of [
    ...["/v1", "/v1/", "/inference/job_1/v1/models", "/inference/job-1/predict", "/x/v1/models"],
    ...["/inference//v1/models", "/v2/models", undefined],
  ])
    t.equal(openAiTargetOf("POST", path), null, String(path));
});
