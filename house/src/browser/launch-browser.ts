import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { type Browser, chromium } from "playwright-core";
import { HEADLESS_CHROMIUM } from "./headless-chromium.ts";

/**
 * A browser in a network of its own, as one on another machine: jobs make networks on this host, and Chromium breaks every request
 * that is on its way when a network of its machine changes.
 * @param origins on this host's loopback that it reaches
 */
export async function launchBrowser(...origins: string[]): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), "rt-browser-"));
  const ports = origins.map((origin) => new URL(origin).port);
  const servers = ports.map((port) =>
    createServer((inside) => {
      const outside = connect(Number(port), "127.0.0.1");
      pipeline(inside, outside, inside, () => undefined);
    }).listen(join(folder, port)),
  );
  await Promise.all(servers.map((server) => once(server, "listening")));
  const program = join(folder, "browser");
  const inside = join(import.meta.dirname, "network-of-browser.ts");
  const words = [process.execPath, inside, folder, ports.join(","), HEADLESS_CHROMIUM];
  writeFileSync(program, `#!/bin/sh\nexec unshare --net -- ${words.join(" ")} "$@"\n`, {
    mode: 0o700,
  });
  const close = (): void => {
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const browser = await chromium.launch({
      executablePath: program,
      args: ["--no-sandbox", "--disable-dev-shm-usage"],
    });
    browser.on("disconnected", close);
    return browser;
  } catch (error) {
    close();
    throw error;
  }
}
