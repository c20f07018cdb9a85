/** What pip is told of the machine that wheels are for: the job images' Python on x86-64 with glibc 2.28 or newer. */
export const WHEEL_PLATFORM: readonly string[] = [
  "--only-binary=:all:",
  "--python-version=3.11",
  ...["2_28", "2_27", "2_17", "2_12"].map((glibc) => `--platform=manylinux_${glibc}_x86_64`),
  "--platform=manylinux2014_x86_64",
  "--platform=manylinux2010_x86_64",
];
