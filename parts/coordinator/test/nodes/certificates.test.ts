import { X509Certificate } from "node:crypto";
import t from "tap";
import { makeAttemptRoot } from "../../src/nodes/attempt-certificates.ts";
import { CertificateAuthority } from "../../src/nodes/certificate-authority.ts";
import { makeSigningRequest, makeTestCa } from "./node-certificates.ts";

t.test(
  "a fresh certificate is valid for a clock that is hours behind, as one set to local time is",
  async (t) => {
    const hoursBehind = Date.now() - 14 * 3_600_000;
    const authority = await CertificateAuthority.load(await makeTestCa(t.testdir()));
    const { csrPem } = await makeSigningRequest("node-a");
    const fresh = {
      node: (await authority.signNode("node-a", csrPem)).certPem,
      attempt: (await makeAttemptRoot("job-1/1")).certPem,
    };
    for (const [of, pem] of Object.entries(fresh)) {
      const { validFromDate, validToDate } = new X509Certificate(pem);
      t.ok(
        validFromDate.getTime() < hoursBehind && hoursBehind < validToDate.getTime(),
        `${of}: ${validFromDate.toISOString()}`,
      );
    }
  },
);
