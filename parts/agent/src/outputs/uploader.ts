/** Uploads by multiparts that the coordinator creates and completes: the agent holds URLs of single parts alone. */
import { setTimeout as sleep } from "node:timers/promises";
import { abortable } from "@resontech/frame/abortable";
import type { CoordinatorClient, MemberRef } from "../bus/coordinator-client.ts";
import { persist } from "../bus/persist.ts";
import { RefusedError } from "../bus/refused-error.ts";
import type { FileRange } from "../file-range.ts";
import { offThread } from "../off-thread/off-thread.ts";

const PARALLEL = 4;
const TRIES = 5;
const FIRST_WAIT_MS = 200;

export type Output = {
  /** An open file, of which `sizeBytes` from `start` (default 0) are stored. */
  fd: number;
  start?: number;
  sizeBytes: number;
  key: string;
  area?: "log" | "checkpoint";
  /** Hears of what is on its way, and, with 0, that the file is being read for its digest: a large one takes minutes for either. */
  onBytes?: (bytes: number) => void;
};

/** `sha256` in hex. */
export type LeavingOutput = { sizeBytes: number; sha256: string; area: string };

/** The object store did not take a part; `status` tells an outdated URL (403) from trouble. */
class PartRefusedError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the object store answered ${status} to a part`);
    this.status = status;
  }
}

export class Uploader {
  readonly #coordinator: Pick<CoordinatorClient, "outputOpen" | "outputParts" | "outputComplete">;
  readonly #ca: () => string;
  readonly #onLeaving: (member: MemberRef, output: LeavingOutput) => void;

  /** @param onLeaving hears of each output before a byte of it leaves; what it throws keeps the output here */
  constructor(
    coordinator: Pick<CoordinatorClient, "outputOpen" | "outputParts" | "outputComplete">,
    ca: () => string,
    onLeaving: (member: MemberRef, output: LeavingOutput) => void,
  ) {
    this.#coordinator = coordinator;
    this.#ca = ca;
    this.#onLeaving = onLeaving;
  }

  /**
   * Uploads in constant memory.
   * @returns the upload's id, completed
   * @throws RefusedError of the coordinator, or `bucket_full`; the last part's error after five tries, or the signal's reason, at once
   */
  async upload(
    member: MemberRef,
    { fd, start = 0, sizeBytes, key, area, onBytes = () => undefined }: Output,
    signal: AbortSignal,
  ): Promise<string> {
    const range = { fd, start, length: sizeBytes };
    const sha256 = await offThread(
      { kind: "digest", range },
      { onProgress: () => onBytes(0) },
      signal,
    );
    this.#onLeaving(member, { sizeBytes, sha256, area: area ?? "output" });
    const request = { ...member, key, sizeBytes, sha256, ...(area === undefined ? {} : { area }) };
    const { upload, partSizeBytes, urls } = await abortable(
      this.#coordinator.outputOpen(request),
      signal,
    );
    const etags: string[] = [];
    let next = 0;
    const broken = new AbortController();
    const lane = async (): Promise<void> => {
      while (next < urls.length) {
        const number = next + 1;
        next = number;
        const offset = (number - 1) * partSizeBytes;
        const part = {
          fd,
          start: start + offset,
          length: Math.min(partSizeBytes, sizeBytes - offset),
          onBytes,
        };
        const fresh = async (): Promise<string> =>
          (await abortable(this.#coordinator.outputParts(member, upload, [number]), signal))
            .urls[0] ?? "";
        etags[number - 1] = await this.#putPart(
          { url: urls[number - 1] ?? "", fresh },
          part,
          AbortSignal.any([signal, broken.signal]),
        );
      }
    };
    const lanes = Array.from({ length: Math.min(PARALLEL, urls.length) }, () =>
      lane().catch((error: unknown) => {
        broken.abort(error);
        throw error;
      }),
    );
    // All must have let go of the descriptor before the caller closes it.
    await Promise.allSettled(lanes);
    await Promise.all(lanes);
    // Asked again rather than waited for: a coordinator that was killed meanwhile never answers, and its next life knows the upload.
    await persist(
      () => abortable(this.#coordinator.outputComplete(member, upload, etags), signal),
      signal,
    );
    return upload;
  }

  async #putPart(
    target: { url: string; fresh: () => Promise<string> },
    part: Part,
    signal: AbortSignal,
  ): Promise<string> {
    let { url } = target;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await putOnce(url, part, this.#ca(), signal);
      } catch (error) {
        if (signal.aborted || attempt === TRIES || error instanceof RefusedError) throw error;
        if (error instanceof PartRefusedError && error.status === 403) url = await target.fresh();
        else await sleep(FIRST_WAIT_MS * 2 ** attempt, undefined, { signal });
      }
    }
  }
}

type Part = FileRange & { onBytes: (bytes: number) => void };

async function putOnce(
  url: string,
  { onBytes, ...range }: Part,
  ca: string,
  signal: AbortSignal,
): Promise<string> {
  const onProgress = ({ bytes }: { bytes: number }): void => onBytes(bytes);
  const { status, etag, refusal } = await offThread(
    { kind: "part", range, url, ca },
    { onProgress },
    signal,
  );
  if (refusal.includes("<Code>QuotaExceeded</Code>"))
    throw new RefusedError("bucket_full", "the bucket has no room for it");
  if (status !== 200 || etag === null) throw new PartRefusedError(status);
  return etag;
}
