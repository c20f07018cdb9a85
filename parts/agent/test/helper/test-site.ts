/** What the nodes of a test share: certificates, bus, object store, and the registry with the job image. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBus, type TestBus } from "./bus.ts";
import { type JobImage, serveJobImage } from "./job-image.ts";
import { TestObjectStore } from "./object-store.ts";
import { TestPki } from "@resontech/house/test-pki";

export class TestSite implements AsyncDisposable {
  readonly host: string;
  readonly pki: TestPki;
  /** Of object store and registry. */
  readonly doors: TestPki;
  readonly bus: TestBus;
  readonly store: TestObjectStore;
  readonly image: JobImage;
  readonly #dir: string;

  private constructor(
    host: string,
    dir: string,
    parts: { pki: TestPki; doors: TestPki; bus: TestBus; store: TestObjectStore; image: JobImage },
  ) {
    this.host = host;
    this.#dir = dir;
    this.pki = parts.pki;
    this.doors = parts.doors;
    this.bus = parts.bus;
    this.store = parts.store;
    this.image = parts.image;
  }

  /**
   * @param host address that all of them listen at
   * @param customers whether object store and registry show certificates of an authority of their own
   */
  static async start(
    nodes: readonly string[],
    host = "127.0.0.1",
    customers = false,
  ): Promise<TestSite> {
    const dir = mkdtempSync(join(tmpdir(), "rts-"));
    const pki = await TestPki.make(join(dir, "pki"), host);
    const doors = customers ? await TestPki.make(join(dir, "doors"), host, "Customer root") : pki;
    const [image, bus, store] = await Promise.all([
      serveJobImage(dir, doors, host),
      startBus(dir, pki, nodes, host),
      TestObjectStore.start(dir, doors, host),
    ]);
    return new TestSite(host, dir, { pki, doors, bus, store, image });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.bus.stop(), this.store.stop(), this.image.stop()]);
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
