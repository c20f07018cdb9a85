import t from "tap";
import { planUpload } from "../../src/storage/decisions/upload-plan.ts";

const MIB = 1024 * 1024;

t.test("parts of 50 MiB, and URLs that outlive a slow connection", async (t) => {
  t.same(planUpload(0), { parts: 1, expiresS: 900 });
  t.same(planUpload(50 * MIB), { parts: 1, expiresS: 900 });
  t.same(planUpload(50 * MIB + 1), { parts: 2, expiresS: 900 });
  t.same(planUpload(4_500_000_001), { parts: 86, expiresS: 901 });
  t.same(planUpload(10_000 * 50 * MIB), { parts: 10_000, expiresS: 104_858 });
  t.throws(() => planUpload(10_000 * 50 * MIB + 1), { code: "upload_too_large" });
});
