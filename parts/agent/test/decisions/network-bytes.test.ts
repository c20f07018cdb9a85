import t from "tap";
import { networkBytesOf } from "../../src/decisions/network-bytes.ts";

const TEXT = [
  "Inter-|   Receive                                                |  Transmit",
  " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed",
  "    lo: 68906521344 6953048    0    0    0     0          0         0 68906521344 6953048    0    0    0     0       0          0",
  "  eth0: 8665853548  215530    0    0    0     0          0         0 15257684  141287    0    0    0     0       0          0",
  "rtnfc47ef: 134977849    3838    0    0    0     0          0         0  4960684    1874    0    0    0     0       0          0",
].join("\n");

t.test("devices are summed, but for the loopback", async (t) => {
  t.same(networkBytesOf(TEXT), { received: 8_800_831_397, sent: 20_218_368 });
  t.same(
    networkBytesOf(TEXT, (name) => name === "eth0"),
    {
      ...{ received: 8_665_853_548, sent: 15_257_684 },
    },
  );
});

t.test("without a device nothing is known", async (t) => {
  t.equal(
    networkBytesOf(TEXT, () => false),
    null,
  );
  t.equal(networkBytesOf(""), null);
});
