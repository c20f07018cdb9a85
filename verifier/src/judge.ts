/** The judging code without its command line, for who runs it many times. */
export { ArchiveReader } from "./input/archive.ts";
export { SCHEMA_SHA256 } from "./leaf/catalogue.ts";
export { type ErasureElsewhere, erasureElsewhere } from "./disclosures/erasures.ts";
export { MAX_PROOF_BYTES, PROOF_HEADER, type ProofReport, verifyProof } from "./event-proof.ts";
export { Integrity } from "./tree/integrity.ts";
export { parseKnown } from "./tree/known.ts";
export { MAX_NOTE_BYTES, parseCheckpoint, Refused } from "./input/note.ts";
export { renderProof, renderText } from "./report/output.ts";
export { piecesOf } from "./platform/pieces-of.ts";
export { nodePlatform } from "./platform/platform-node.ts";
export { MAX_RELEASE_BYTES, Releases } from "./completeness/releases.ts";
export { parseNonce, parseSample } from "./sample/sample.ts";
export { MAX_DOWNTIME_BYTES, parseDowntime } from "./completeness/timeline.ts";
export { exitCode, type VerdictName } from "./verdicts.ts";
export { lacksCounterpart, type Report, verify } from "./verify.ts";
