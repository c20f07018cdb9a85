/** An upload that is given up while its parts still come. The engine's answers are scripted: its race can't be had at will. */
import t from "tap";
import { S3ObjectStore } from "../../src/storage/object-store.ts";
import { S3ResponseError, type S3Transport } from "../../src/storage/s3-transport.ts";

/** @param answers of the engine to one request after the other; null: it is done */
function storeThat(answers: (S3ResponseError | null)[]): {
  store: S3ObjectStore;
  asked: () => number;
} {
  let asked = 0;
  const send = async () => {
    const answer = answers[asked++];
    if (answer !== null) throw answer ?? new Error("one request more than there are answers");
  };
  return { store: new S3ObjectStore({ send } as unknown as S3Transport), asked: () => asked };
}
const busy = () => new S3ResponseError("InternalError", 500, "");
const gone = () => new S3ResponseError("NoSuchUpload", 404, "");

t.test(
  "a part that comes in between makes it try again, and an upload that is gone then was given up",
  async (t) => {
    const again = storeThat([busy(), busy(), null]);
    t.equal(await again.store.abortUpload("b", "k", "u"), true);
    t.equal(again.asked(), 3);
    const begun = storeThat([busy(), gone()]);
    t.equal(await begun.store.abortUpload("b", "k", "u"), true);
  },
);

t.test(
  "an upload that never was is none, and an engine that goes on failing is told of",
  async (t) => {
    t.equal(await storeThat([gone()]).store.abortUpload("b", "k", "u"), false);
    const broken = storeThat(Array.from({ length: 9 }, busy));
    await t.rejects(broken.store.abortUpload("b", "k", "u"), { code: "InternalError" });
    t.equal(broken.asked(), 5);
  },
);
