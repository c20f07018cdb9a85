/** How the log names what was asked for. */
import t from "tap";
import { calledAddress } from "../../src/records/called-address.ts";

t.test("an address is named by its form, and holds nothing that a client wrote", async (t) => {
  for (const [method, url, name] of [
    ["POST", "/inference/job-1/predict", "POST /inference/:deployment/predict"],
    ["GET", "/inference/job-1/health", "GET /inference/:deployment/health"],
    ["POST", "/inference/job-1/secret?a=b", "POST /inference/:deployment/*"],
    ["POST", "/v1/chat/completions", "POST /v1/chat/completions"],
    ["POST", "/inference/job-1/v1/embeddings", "POST /inference/:deployment/v1/embeddings"],
    ["GET", "/v1/models", "GET /v1/models"],
    ["GET", "/v1/models/secret", "GET /v1/models/:model"],
    ["POST", "/v1/secret", "POST /v1/*"],
  ] as const)
    t.equal(calledAddress(method, url), name);
});
