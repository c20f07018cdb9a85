/** A customer's own image, admitted to the appliance: what is known of it, and the words that whoever signs one signs. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";

export const ImageName = Type.String({ maxLength: 48, pattern: "^[a-z0-9]+(?:-[a-z0-9]+)*$" });
export const ImageDigest = Type.String({ pattern: "^sha256:[0-9a-f]{64}$" });

/** Of an image's configuration, as UTF-8 of its JSON: what is asked of the coordinator has to fit one line. */
export const MAX_PROGRAM_BYTES = 32 * 1024;
export const MAX_ARGUMENTS = 256;
export const MAX_VARIABLES = 128;
const Argument = Type.String({ maxLength: 4_096, pattern: "^[^\\x00]*$" });
/** As an agent takes them: desired-member.ts. */
export const Variables = Type.Record(
  Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$" }),
  Type.String({ maxLength: 8_192, pattern: "^[^\\x00]*$" }),
  { ...closed, maxProperties: MAX_VARIABLES },
);
export const Arguments = Type.Array(Argument, { maxItems: MAX_ARGUMENTS });
/** An absolute path. */
export const Directory = Type.String({ maxLength: 1_024, pattern: "^/[^\\x00]*$" });

/** What an image says of how it is run; its user counts for nothing, a member has its own. */
export const ImageProgram = Type.Object(
  {
    /** Entry point and arguments; empty where the image names none. */
    command: Arguments,
    directory: Directory,
    environment: Variables,
  },
  closed,
);
export type ImageProgram = Static<typeof ImageProgram>;

/** Names the repository below the appliance's registry. */
export function ownRepository(name: string): string {
  return `own/${name}`;
}

/** What is signed of an image, byte for byte: it says what it is for, so that no signature of something else passes for it. */
export function imageStatement(digest: string): string {
  return `resontech-image-v1 ${digest}\n`;
}

/** Who vouched for the bytes: whoever said their digest, a key that is trusted here, or two people. */
export const IMAGE_ADMISSIONS = ["digest", "signature", "approval"] as const;
