import t from "tap";
import { costsOf, renamedConfig } from "../../src/rename/decisions/evaluate-rename.ts";
import { config } from "../helper/request.ts";

const NOW = Date.UTC(2026, 10, 27);

t.test("the name before stays in the appliance's own certificates for 30 days", async (t) => {
  const next = renamedConfig(config, { name: "gpu.clinic.example" }, null, NOW);
  t.match(next, {
    ...{ name: "gpu.clinic.example", address: config.address },
    formerName: { name: "gpu.example", until: "2026-12-27T00:00:00.000Z" },
  });
  t.match(costsOf(config, next).join("\n"), /passkeys are bound to gpu\.example/);
});

t.test("another address alone costs a start, and no sign-in", async (t) => {
  const next = renamedConfig(config, { name: config.name, address: "10.1.2.4" }, null, NOW);
  t.equal(next.address, "10.1.2.4");
  t.notOk("formerName" in next);
  t.notMatch(costsOf(config, next).join("\n"), /passkeys/);
});

t.test("what is no name, or the same, is refused", async (t) => {
  const of = (name: string, address?: string) => () =>
    renamedConfig(config, { name, address }, null, NOW);
  t.throws(of("a b"), { code: "name_invalid" });
  t.throws(of("gpu.clinic.example", "fe80::1"), { code: "name_invalid" });
  t.throws(of(config.name), { code: "name_unchanged" });
  t.throws(of(config.name, config.address), { code: "name_unchanged" });
});
