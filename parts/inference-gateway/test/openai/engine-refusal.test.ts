/** What engines refuse with, in the API's own words. */
import t from "tap";
import { engineRefusal } from "../../src/openai/engine-refusal.ts";
import { errorBody, errorHeaders } from "../../src/openai/openai-error.ts";

const of = (status: number, type: string, message = "it says so") =>
  engineRefusal(status, JSON.stringify({ error: { code: status, type, message } }));

t.test("what the caller can mend keeps the engine's words", async (t) => {
  t.match(of(400, "exceed_context_size_error"), {
    ...{ status: 400, code: "context_length_exceeded", message: "it says so" },
  });
  t.match(of(400, "invalid_request_error"), { status: 400, code: "invalid_request" });
  t.match(of(500, "invalid_request_error"), { status: 400, code: "invalid_request" });
  t.match(of(501, "not_supported_error"), { status: 400, code: "unsupported_by_model" });
  t.match(of(404, "not_found"), { status: 400, code: "unsupported_by_model" });
  const named = (param: unknown) =>
    engineRefusal(400, JSON.stringify({ error: { type: "unsupported_by_model", param } }));
  t.match(named("tools"), { status: 400, code: "unsupported_by_model", param: "tools" });
  for (const param of ["/app/model", 5, null]) t.notOk("param" in named(param), String(param));
  t.match(engineRefusal(400, "<html>"), { status: 400, message: /does not take/ });
});

t.test(
  "what the caller can't mend shows no internals, and is asked again where that helps",
  async (t) => {
    t.match(of(503, "busy"), { status: 503, code: "busy", retryAfterS: 1 });
    t.match(of(503, "unavailable_error"), { status: 503, code: "unavailable", retryAfterS: 5 });
    const failed = of(500, "server_error", "/app/model/x at 0x7f");
    t.match(failed, {
      status: 500,
      code: "engine_failed",
      message: "the engine failed over this request",
    });
    t.equal(errorHeaders(failed)["x-should-retry"], "false");
  },
);

t.test("an error has the API's form, however long its message", async (t) => {
  t.same(JSON.parse(errorBody(of(400, "x", "a".repeat(5_000)))), {
    error: {
      ...{ message: "a".repeat(1_000), type: "invalid_request_error" },
      ...{ param: null, code: "invalid_request" },
    },
  });
});
