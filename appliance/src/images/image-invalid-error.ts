/** A file that is no image, or one that can't be admitted as it is. */
export class ImageInvalidError extends Error {
  override readonly name = "ImageInvalidError";
  readonly code = "image_invalid";
  readonly hint =
    "Write it again as an OCI archive of one image: podman save --format oci-archive, docker save of Docker 25 or newer, or skopeo copy … oci-archive:FILE.";
}
