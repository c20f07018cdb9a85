import t from "tap";
import { networks } from "@resontech/frame/networks";
import { addressInside } from "../src/perimeter.ts";

t.test("private addresses and named networks are inside, all else is not", async (t) => {
  for (const host of [
    "10.1.2.3",
    "172.31.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "127.0.0.1",
    "::1",
    "fd00::1",
  ])
    t.equal(await addressInside(host, []), host);
  for (const host of [
    "8.8.8.8",
    "172.32.0.1",
    "169.254.169.254",
    "2001:4860:4860::8888",
    "::ffff:8.8.8.8",
    "0.0.0.0",
  ])
    await t.rejects(addressInside(host, []), { code: "outside_perimeter" }, host);
  t.equal(await addressInside("198.51.100.7", ["198.51.100.0/24"]), "198.51.100.7");
  await t.rejects(addressInside("198.51.101.7", ["198.51.100.0/24"]), {
    code: "outside_perimeter",
  });
  await t.rejects(addressInside("no-such-host.invalid", []), { code: "not_found" });
});

t.test("what is no network is refused", async (t) => {
  for (const cidr of [
    "",
    "10.0.0.0",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "::/129",
    "host/8",
    "10.0.0.0/ 8",
  ])
    t.throws(() => networks([cidr]), RangeError, cidr);
});
