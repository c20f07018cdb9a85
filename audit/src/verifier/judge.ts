/** The judging code without its command line, for who runs it many times. */
export { ArchiveReader } from "./archive.ts";
export { SCHEMA_SHA256 } from "./catalogue.ts";
export { type ErasureElsewhere, erasureElsewhere } from "./erasures.ts";
export { MAX_PROOF_BYTES, PROOF_HEADER, type ProofReport, verifyProof } from "./event-proof.ts";
export { Integrity } from "./integrity.ts";
export { parseKnown } from "./known.ts";
export { MAX_NOTE_BYTES, parseCheckpoint, Refused } from "./note.ts";
export { renderProof, renderText } from "./output.ts";
export { piecesOf } from "./pieces-of.ts";
export { nodePlatform } from "./platform-node.ts";
export { MAX_RELEASE_BYTES, Releases } from "./releases.ts";
export { parseNonce, parseSample } from "./sample.ts";
export { MAX_DOWNTIME_BYTES, parseDowntime } from "./timeline.ts";
export { exitCode, type VerdictName } from "./verdicts.ts";
export { lacksCounterpart, type Report, verify } from "./verify.ts";
