/** The front's process, on the S3 port. */
import { runPart } from "@resontech/frame/run-part";
import { s3Front } from "../part.ts";
import { openFront } from "./front.ts";

runPart(s3Front, async ({ config: { own }, log }) => {
  const front = await openFront(own, log);
  return { answers: {}, [Symbol.asyncDispose]: () => front[Symbol.asyncDispose]() };
});
