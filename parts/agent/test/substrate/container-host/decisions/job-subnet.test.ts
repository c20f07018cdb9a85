import t from "tap";
import {
  chooseSubnet,
  isContainerAddress,
  memberAddress,
  parseNet,
  parseRoutes,
} from "../../../../src/substrate/container-host/decisions/job-subnet.ts";

const nets = (...texts: string[]) =>
  texts.map((text) => parseNet(text)).filter((net) => net !== null);

t.test("an attempt gets the first subnet that overlaps with nothing", (t) => {
  t.equal(chooseSubnet(0, []), "198.18.0.0/24");
  t.equal(chooseSubnet(3, []), "198.18.3.0/24");
  t.equal(chooseSubnet(300, []), "198.19.44.0/24");
  t.equal(chooseSubnet(512, []), "198.18.0.0/24", "seeds wrap around");
  t.equal(chooseSubnet(3, nets("198.18.3.0/24", "198.18.4.0/25")), "198.18.5.0/24");
  t.equal(
    chooseSubnet(3, nets("198.18.0.0/16")),
    "198.19.0.0/24",
    "a larger network that contains it",
  );
  t.equal(chooseSubnet(511, nets("198.19.255.128/32")), "198.18.0.0/24", "a smaller one inside it");
  t.equal(chooseSubnet(3, nets("10.0.0.0/8", "192.168.0.0/16")), "198.18.3.0/24");
  t.equal(chooseSubnet(3, nets("198.18.0.0/15")), null, "all taken");
  t.end();
});

t.test("members have fixed places in it", (t) => {
  t.equal(memberAddress("198.18.7.0/24", null), "198.18.7.2");
  t.equal(memberAddress("198.18.7.0/24", 0), "198.18.7.3");
  t.equal(memberAddress("198.18.7.0/24", 251), "198.18.7.254");
  t.equal(memberAddress("198.18.7.0/24", 252), null);
  t.equal(memberAddress("", null), null);
  t.end();
});

t.test("a container's address is one of its subnet that is not the host's", (t) => {
  for (const [address, isOne] of [
    ["198.18.7.2", true],
    ["198.18.7.254", true],
    ["198.18.7.1", false],
    ["198.18.8.2", false],
    ["10.0.0.2", false],
    ["::ffff:198.18.7.2", false],
    ["", false],
  ] as const)
    t.equal(isContainerAddress("198.18.7.0/24", address), isOne, address);
  t.equal(isContainerAddress("", "198.18.7.2"), false);
  t.end();
});

t.test("text that is no network is none", (t) => {
  for (const text of [
    "",
    "198.18.0.0",
    "198.18.0.0/33",
    "198.18.256.0/24",
    "::/0",
    "198.18.0.0/24 ",
  ])
    t.equal(parseNet(text), null, text);
  t.strictSame(parseNet("198.18.1.0/24"), { base: 0xc6120100, prefix: 24 });
  t.end();
});

t.test("routes are read as the kernel writes them", (t) => {
  const table = [
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT",
    "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0",
    "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0",
    "br0\t000012C6\t00000000\t0001\t0\t0\t0\t0000FEFF\t0\t0\t0",
    "down\t0000000A\t00000000\t0000\t0\t0\t0\t000000FF\t0\t0\t0",
    "",
  ].join("\n");
  t.strictSame(parseRoutes(table), [
    { base: 0xc0000200, prefix: 24 },
    { base: 0xc6120000, prefix: 15 },
  ]);
  t.strictSame(parseRoutes(""), []);
  t.end();
});
