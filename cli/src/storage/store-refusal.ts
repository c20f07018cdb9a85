/** What the object store's refusal of a part or a download means. Pure. */
import { CliError } from "../cli-error.ts";

/**
 * - `gone`: it knows no such upload. - `full`: the bucket has no room now. - `refused`: as it stands, it will never be taken.
 * - `later`: the store can't just now, so the same request may be sent again.
 */
export type RefusalKind = "gone" | "full" | "refused" | "later";

export class StoreRefusal extends CliError {
  readonly kind: RefusalKind;

  constructor(status: number, document: string) {
    const code = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(document)?.[1] ?? null;
    const kind = kindOf(status, code);
    const { name, hint } = WORDS[kind];
    super(name, `the object store answered ${status}${code === null ? "" : ` ${code}`}`, hint);
    this.kind = kind;
  }
}

const WORDS: Readonly<Record<RefusalKind, { name: string; hint: string }>> = {
  gone: {
    name: "upload_gone",
    hint: "Somebody gave the upload up. Send the same command again: it begins anew.",
  },
  full: {
    name: "bucket_full",
    hint: "`resontech storage usage` shows the room. Remove what is not needed, then send the same command again: it goes on.",
  },
  refused: {
    name: "storage_refused",
    hint: "Send the same command again. If it is refused again, give the operator this line.",
  },
  later: {
    name: "storage_unavailable",
    hint: "Send the same command again in a while: it goes on where it stopped.",
  },
};

function kindOf(status: number, code: string | null): RefusalKind {
  if (code === "NoSuchUpload") return "gone";
  if (code === "QuotaExceeded") return "full";
  return status >= 500 || code === "RequestTimeout" ? "later" : "refused";
}
