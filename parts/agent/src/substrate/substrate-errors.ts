/** What a substrate refuses, and the life of a member can act on. */

/** The substrate answered, and refused what it was asked for. */
export class SubstrateRefusedError extends Error {
  override readonly name = "SubstrateRefusedError";
  readonly code = "substrate_refused";
}

/** The member could not be started, or what ran is gone without an end. */
export class EnclosureFailedError extends Error {
  override readonly name = "EnclosureFailedError";
  readonly code = "enclosure_failed";
}

/** The substrate said why it could not have the image. */
export class ImageNotHadError extends Error {
  override readonly name = "ImageNotHadError";
  readonly code = "image_not_had";
}

/** A member can't have what it was placed on. */
export class DevicesNotFreeError extends Error {
  override readonly name = "DevicesNotFreeError";
  readonly code = "devices_not_free";
}

/** The attempt's network has a way out. */
export class NetworkNotClosedError extends Error {
  override readonly name = "NetworkNotClosedError";
  readonly code = "network_not_closed";
}
