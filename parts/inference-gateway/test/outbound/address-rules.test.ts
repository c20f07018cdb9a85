import t from "tap";
import { mayDial } from "../../src/outbound/address-rules.ts";

const NAME = { host: "data.example.org" };

t.test("a name may lead to public addresses alone", async (t) => {
  for (const address of ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "2a00:1450::1"])
    t.ok(mayDial(address, NAME), address);
  for (const address of [
    ...["127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"],
    ...["0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1"],
    ...["::1", "::", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1"],
    ...["::ffff:10.0.0.1", "::ffff:8.8.8.8", "64:ff9b::a00:1", "2002:a00:1::1", "2001::1"],
  ])
    t.notOk(mayDial(address, NAME), address);
});

t.test("networks that were named are the only ones, public or not", async (t) => {
  const inside = { ...NAME, networks: ["10.2.0.0/16", "fd00:1::/32"] };
  for (const address of ["10.2.3.4", "fd00:1::7"]) t.ok(mayDial(address, inside), address);
  for (const address of ["10.3.0.1", "8.8.8.8", "127.0.0.1", "fd00:2::1"])
    t.notOk(mayDial(address, inside), address);
});

t.test("an address that was named is itself", async (t) => {
  t.ok(mayDial("10.2.3.4", { host: "10.2.3.4" }));
  t.ok(mayDial("::1", { host: "::1" }));
  t.notOk(mayDial("10.2.3.5", { host: "10.2.3.4" }));
});
