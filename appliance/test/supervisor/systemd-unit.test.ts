import t from "tap";
import { renderUnit } from "../../src/supervisor/systemd-unit.ts";

t.test("the unit of a host starts the supervisor of its kind, and keeps it", async (t) => {
  for (const [kind, command] of [
    ["appliance", "appliance"],
    ["node", "appliance-node"],
  ] as const) {
    const unit = renderUnit("/opt/x", "inst", kind);
    t.ok(unit.includes(`ExecStart=/opt/x/current/bin/${command} --root /opt/x supervise\n`), kind);
    t.match(unit, /^Restart=on-failure$/m);
    t.match(unit, /^KillMode=process$/m, "jobs outlive a supervisor that crashed");
  }
});
