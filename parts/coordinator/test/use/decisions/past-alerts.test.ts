import t from "tap";
import { pastAlerts } from "../../../src/use/decisions/past-alerts.ts";

const axis = { fromS: 0, toS: 1_000, stepS: 100 };
const told = (labels: Record<string, string>, seconds: number[]) => ({
  metric: { __name__: "ALERTS", alertstate: "firing", instance: "appliance", ...labels },
  values: seconds.map((second) => [second, "1"] as const),
});

t.test("looks that follow one another are one alert, and a gap begins another", async (t) => {
  const alerts = pastAlerts(
    [
      told({ alertname: "PartDown", severity: "critical", part: "vault" }, [100, 200, 300, 700]),
      told({ alertname: "DiskFull", severity: "warning", holds: "logs" }, [900, 1_000]),
    ],
    axis,
  );
  const at = (second: number): string => new Date(second * 1_000).toISOString();
  t.same(alerts, [
    {
      ...{ alert: "DiskFull", severity: "warning", about: "holds: logs" },
      ...{ from: at(900), to: null },
    },
    {
      ...{ alert: "PartDown", severity: "critical", about: "part: vault" },
      ...{ from: at(700), to: at(800) },
    },
    {
      ...{ alert: "PartDown", severity: "critical", about: "part: vault" },
      ...{ from: at(100), to: at(400) },
    },
  ]);
});

t.test("what Prometheus adds to every alert is not what it is about", async (t) => {
  const [alert] = pastAlerts(
    [told({ alertname: "A", job: "x", exported_job: "y" }, [1_000])],
    axis,
  );
  t.equal(alert?.about, "job: x, job: y");
  t.same(pastAlerts([], axis), []);
});
