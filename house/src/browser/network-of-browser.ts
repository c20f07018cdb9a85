/**
 * Runs in a network of its own, which nothing changes, and starts the browser there: `network-of-browser.ts FOLDER PORT,PORT BROWSER ARGUMENT…`.
 * A port of its loopback leads to the socket of that name in FOLDER, and so to the host. The browser has this program's standard streams
 * and the two pipes by which it is driven.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

const [folder = "", ports = "", program = "", ...args] = process.argv.slice(2);
const ip = (...words: string[]): string => execFileSync("ip", words, { encoding: "utf8" });
ip("link", "set", "lo", "up");
// With no other device a browser says that it is offline.
ip("link", "add", "cable", "type", "veth", "peer", "name", "plug");
// The kernel gives a device of IPv6 an address seconds later, which is a change.
for (const end of ["cable", "plug"]) ip("link", "set", end, "addrgenmode", "none", "up");
ip("address", "add", "192.0.2.2/24", "dev", "cable");
while (!ip("link", "show", "cable").includes("state UP")) await sleep(50);
for (const port of ports.split(",")) {
  const server = createServer((inside) => {
    const outside = connect(join(folder, port));
    pipeline(inside, outside, inside, () => undefined);
  });
  await once(server.listen(Number(port), "127.0.0.1"), "listening");
}
const browser = spawn(program, args, { stdio: [0, 1, 2, 3, 4] });
browser.on("exit", (code) => process.exit(code ?? 1));
