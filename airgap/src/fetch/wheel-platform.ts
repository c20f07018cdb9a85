/** Newest glibc that wheels may ask of a host: of every wheel that runs outside of an image. */
const HOSTS = ["2_28", "2_27", "2_17", "2_12"];
/** Debian 12 has 2.36, and takes what older ones take. */
const DEBIAN_12 = Array.from({ length: 32 }, (_, at) => `2_${36 - at}`);

/**
 * What pip is told of the machine that wheels are for: the job images' Python on x86-64.
 * @param inImage they run in an image of Debian 12 alone
 */
export function wheelPlatform(inImage: boolean): string[] {
  return [
    "--only-binary=:all:",
    "--python-version=3.11",
    ...(inImage ? DEBIAN_12 : HOSTS).map((glibc) => `--platform=manylinux_${glibc}_x86_64`),
    "--platform=manylinux2014_x86_64",
    "--platform=manylinux2010_x86_64",
    ...(inImage ? ["--platform=manylinux1_x86_64"] : []),
  ];
}
