import t from "tap";
import type { ApplianceConfig } from "../../src/config/appliance-config.ts";
import { formerName } from "../../src/config/former-name.ts";

t.test("the name before counts until its day", async (t) => {
  const until = "2026-12-27T00:00:00.000Z";
  const config = { formerName: { name: "old.example", until } } as ApplianceConfig;
  t.same(formerName(config, Date.parse(until) - 1), ["old.example"]);
  t.same(formerName(config, Date.parse(until)), []);
  t.same(formerName({ name: "new.example" } as ApplianceConfig), []);
});
