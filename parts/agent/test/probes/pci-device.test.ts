import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { countUsers } from "../../src/probes/device-users.ts";
import { pciAddress, readPciDevice } from "../../src/probes/pci-device.ts";
import { addressOf, renderDevice } from "../../src/probes/render-devices.ts";

t.test("an address has one spelling", (t) => {
  t.equal(pciAddress("00000000:3B:00.0"), "0000:3b:00.0");
  t.equal(pciAddress("0000:A3:00.1"), "0000:a3:00.1");
  for (const text of ["", "N/A", "../../etc", "0000:3b:00", "0000:3b:00.9"])
    t.equal(pciAddress(text), null, text);
  t.equal(addressOf(renderDevice("0000:3b:00.0")), "0000:3b:00.0");
  t.equal(addressOf("GPU-1"), null);
  t.end();
});

t.test("the kernel's files say NUMA node and device files", (t) => {
  const sysfs = t.testdir({
    bus: {
      pci: {
        devices: {
          "0000:41:00.0": {
            numa_node: "1\n",
            drm: { card1: {}, renderD129: {}, controlD64: {} },
          },
          "0000:42:00.0": { numa_node: "-1\n" },
        },
      },
    },
  });
  t.strictSame(readPciDevice("0000:41:00.0", sysfs), {
    numaNode: 1,
    renderNode: "/dev/dri/renderD129",
    cardNode: "/dev/dri/card1",
  });
  const nothing = { numaNode: null, renderNode: null, cardNode: null };
  t.strictSame(readPciDevice("0000:42:00.0", sysfs), nothing);
  t.strictSame(readPciDevice("0000:43:00.0", sysfs), nothing);
  t.end();
});

t.test("who holds a render node computes on it, unless it draws on the card too", (t) => {
  const [render, card] = ["/dev/full", "/dev/zero"];
  const device = { renderNode: render, cardNode: card };
  const before = countUsers([device])[0]!;
  const held = openSync(render, "r");
  t.equal(countUsers([device])[0], before + 1);
  const drawn = openSync(card, "r");
  t.equal(countUsers([device])[0], before, "a display server");
  closeSync(drawn);
  closeSync(held);
  t.equal(countUsers([device])[0], before);
  t.strictSame(countUsers([{ renderNode: null, cardNode: null }]), [0]);
  t.strictSame(countUsers([{ renderNode: join(t.testdirName, "none"), cardNode: null }]), [0]);
  t.end();
});
