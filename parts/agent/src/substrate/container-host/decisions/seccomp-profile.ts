/**
 * The system calls of a job: what the engines' own profile (containers-common, moby) allows a container without capabilities, less what
 * reaches beyond the job. Both engines read this form. https://github.com/containers/common/blob/main/pkg/seccomp/seccomp.json
 */
type Argument = { index: number; value: number; valueTwo?: number; op: string };
type Rule = {
  names: string[];
  action: "SCMP_ACT_ALLOW" | "SCMP_ACT_ERRNO";
  args?: Argument[];
  errnoRet?: number;
};
export type SeccompProfile = {
  defaultAction: "SCMP_ACT_ERRNO";
  defaultErrnoRet: number;
  archMap: { architecture: string; subArchitectures: string[] }[];
  syscalls: Rule[];
};

const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];
/** linux/sched.h: new mount, cgroup, UTS, IPC, user, PID and network namespaces. */
const NEW_NAMESPACES = 0x7e02_0000;
/** linux/socket.h */
const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] = [1, 2, 10, 16];
/** The newest family is 45; libseccomp is told of those that may come by "greater than". */
const LAST_FAMILY = 45;
const NETLINK_ROUTE = 0;
/** linux/personality.h: the default one, 32 bits of address, another release's name, and asking which it is. */
const PERSONALITIES = [0, 8, 0x2_0000, 0x2_0008, 0xffff_ffff];

/** Refused by name. Each is answered as to somebody without the right, so that a program that can do without goes on. */
export const DENIED_CALLS: readonly string[] = `
  _sysctl acct add_key adjtimex bpf chroot clock_adjtime clock_settime delete_module fanotify_init fanotify_mark
  finit_module fsconfig fsmount fsopen fspick init_module io_uring_enter io_uring_register io_uring_setup ioperm
  iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie migrate_pages modify_ldt mount mount_setattr move_mount move_pages
  nfsservctl open_by_handle_at open_tree perf_event_open pivot_root process_madvise query_module quotactl reboot request_key
  setdomainname sethostname setns settimeofday swapoff swapon sysfs syslog umount2 unshare uselib userfaultfd ustat vhangup
  vmsplice
`
  .trim()
  .split(/\s+/);

const ALLOWED_CALLS: readonly string[] = `
  accept accept4 access alarm arch_prctl bind brk capget capset chdir chmod chown clock_getres clock_gettime clock_nanosleep
  close close_range connect copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait
  epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64
  fallocate fchdir fchmod fchmodat fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat
  fstatfs fsync ftruncate futex futex_waitv futimesat get_mempolicy get_robust_list get_thread_area getcpu getcwd getdents
  getdents64 getegid geteuid getgid getgroups getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom
  getresgid getresuid getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr inotify_add_watch
  inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit ioctl
  ioprio_get ioprio_set kill landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown lgetxattr link linkat
  listen listxattr llistxattr lremovexattr lseek lsetxattr lstat madvise mbind membarrier memfd_create memfd_secret mincore
  mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend
  mq_unlink mremap msgctl msgget msgrcv msgsnd msync munlock munlockall munmap name_to_handle_at nanosleep newfstatat open
  openat openat2 pause pidfd_getfd pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll prctl
  pread64 preadv preadv2 process_mrelease process_vm_readv process_vm_writev pselect6 ptrace pwrite64 pwritev pwritev2 read
  readahead readlink readlinkat readv recvfrom recvmmsg recvmsg remap_file_pages removexattr rename renameat renameat2
  restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
  rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam
  sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp
  select semctl semget semop semtimedop sendfile sendmmsg sendmsg sendto set_mempolicy set_mempolicy_home_node set_robust_list
  set_thread_area set_tid_address setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid setresgid setresuid
  setreuid setrlimit setsid setsockopt setuid setxattr shmat shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 splice
  stat statfs statx symlink symlinkat sync sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete
  timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill truncate umask uname
  unlink unlinkat utime utimensat utimes vfork wait4 waitid write writev
`
  .trim()
  .split(/\s+/);

export function seccompProfile(): SeccompProfile {
  return {
    defaultAction: "SCMP_ACT_ERRNO",
    // As a kernel answers that does not have the call: libraries then do without.
    defaultErrnoRet: ENOSYS,
    // Calls of x32 are unknown (rt-init says so); a thread that makes one of i386 ends, for what sockets those open no filter sees.
    archMap: [{ architecture: "SCMP_ARCH_X86_64", subArchitectures: ["SCMP_ARCH_X32"] }],
    syscalls: [
      { names: [...ALLOWED_CALLS], action: "SCMP_ACT_ALLOW" },
      { names: [...DENIED_CALLS], action: "SCMP_ACT_ERRNO", errnoRet: EPERM },
      // Threads and processes, never a namespace. The flags of clone3 lie in memory, where no filter sees them: glibc then calls clone.
      allow("clone", { index: 0, value: NEW_NAMESPACES, valueTwo: 0, op: "SCMP_CMP_MASKED_EQ" }),
      { names: ["clone3"], action: "SCMP_ACT_ERRNO", errnoRet: ENOSYS },
      // One's own limits alone: those of PID 1, lowered, would end the container.
      allow("prlimit64", equals(0, 0)),
      {
        names: ["prlimit64"],
        action: "SCMP_ACT_ERRNO",
        args: [{ index: 0, value: 0, op: "SCMP_CMP_NE" }],
        errnoRet: EPERM,
      },
      ...PERSONALITIES.map((value) => allow("personality", equals(0, value))),
      ...socketRules(),
    ],
  };
}

/** Allows sockets inside the container and to the job's own network, and of the kernel only what interfaces there are. It allows no hypervisor, no raw frames, no other family. */
function socketRules(): Rule[] {
  const inside = [AF_UNIX, AF_INET, AF_INET6];
  const others = Array.from({ length: LAST_FAMILY + 1 }, (_, family) => family).filter(
    (family) => !inside.includes(family) && family !== AF_NETLINK,
  );
  const refused = (...args: Argument[]): Rule => ({
    names: ["socket"],
    action: "SCMP_ACT_ERRNO",
    args,
    errnoRet: EAFNOSUPPORT,
  });
  return [
    ...inside.map((family) => allow("socket", equals(0, family))),
    allow("socket", equals(0, AF_NETLINK), equals(2, NETLINK_ROUTE)),
    refused(equals(0, AF_NETLINK), { index: 2, value: NETLINK_ROUTE, op: "SCMP_CMP_NE" }),
    ...others.map((family) => refused(equals(0, family))),
    refused({ index: 0, value: LAST_FAMILY, op: "SCMP_CMP_GT" }),
    allow("socketpair", equals(0, AF_UNIX)),
  ];
}

function allow(name: string, ...args: Argument[]): Rule {
  return { names: [name], action: "SCMP_ACT_ALLOW", args };
}

function equals(index: number, value: number): Argument {
  return { index, value, op: "SCMP_CMP_EQ" };
}
