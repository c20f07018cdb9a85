package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strings"
	"syscall"
	"unsafe"
)

// hostile tries what a job must not be able to do, and what it must; the answers are one metric, each "done" or the kernel's word.
func hostile() {
	found := map[string]any{"calls": calls(), "mountinfo": read("/proc/self/mountinfo"), "mounts": read("/proc/self/mounts"),
		"hosts": read("/etc/hosts"), "resolver": read("/etc/resolv.conf"), "uid": os.Getuid(), "passwd": read("/etc/passwd")}
	found["user"] = "none"
	if self, err := user.Current(); err == nil {
		found["user"] = self.Username
	}
	host, _ := os.Hostname()
	found["hostname"], found["hostnameAddress"] = host, resolves(host)
	text, err := json.Marshal(found)
	check(err)
	check(os.WriteFile("/rt/events/metrics.jsonl", text, 0o600))
	check(os.WriteFile("/rt/events/training_log.txt", nil, 0o600))
	check(os.WriteFile("/app/out/GLOBAL_MODEL.pt", []byte("w"), 0o600))
	event(map[string]any{"kind": "finished", "modelFile": "/app/out/GLOBAL_MODEL.pt", "modelName": "GLOBAL_MODEL.pt"})
}

func calls() map[string]string {
	const (
		newUser, newNet                               = 0x10000000, 0x40000000
		afPacket, afNetlink, afAlg, afVsock, afMctp   = 17, 16, 38, 40, 45
		unshare, keyctl, addKey, requestKey           = 272, 250, 248, 249
		bpf, perfEventOpen, userfaultfd, ioUringSetup = 321, 298, 323, 425
		prlimit64, clone3, setns, mount, syslog       = 302, 435, 308, 165, 103
	)
	name := func(text string) uintptr {
		bytes, _ := syscall.BytePtrFromString(text)
		return uintptr(unsafe.Pointer(bytes))
	}
	buffer := make([]byte, 512)
	room := uintptr(unsafe.Pointer(&buffer[0]))
	limit := [2]uint64{}
	limitAt := uintptr(unsafe.Pointer(&limit))
	tried := map[string][7]uintptr{
		"unshare user":      {unshare, newUser},
		"unshare user, net": {unshare, newUser | newNet},
		"unshare nothing":   {unshare, 0},
		"clone3":            {clone3, room, 88},
		"setns":             {setns, 0, 0},
		"mount":             {mount, name("none"), name("/tmp"), name("tmpfs"), 0, 0},
		"vsock":             {syscall.SYS_SOCKET, afVsock, syscall.SOCK_STREAM, 0},
		"packet":            {syscall.SYS_SOCKET, afPacket, syscall.SOCK_RAW, 0},
		"alg":               {syscall.SYS_SOCKET, afAlg, syscall.SOCK_SEQPACKET, 0},
		"mctp":              {syscall.SYS_SOCKET, afMctp, syscall.SOCK_DGRAM, 0},
		"family to come":    {syscall.SYS_SOCKET, 60, syscall.SOCK_DGRAM, 0},
		"vsock pair":        {syscall.SYS_SOCKETPAIR, afVsock, syscall.SOCK_STREAM, 0, room},
		"netlink audit":     {syscall.SYS_SOCKET, afNetlink, syscall.SOCK_RAW, 9},
		"netlink netfilter": {syscall.SYS_SOCKET, afNetlink, syscall.SOCK_RAW, 12},
		"keyctl":            {keyctl, 0, ^uintptr(3), 1},
		"add_key":           {addKey, name("user"), name("left"), name("x"), 1, ^uintptr(3)},
		"request_key":       {requestKey, name("user"), name("left"), 0, 0},
		"bpf":               {bpf, 0, room, 128},
		"perf_event_open":   {perfEventOpen, room, 0, ^uintptr(0), ^uintptr(0), 0},
		"userfaultfd":       {userfaultfd, 1},
		"io_uring_setup":    {ioUringSetup, 4, room},
		"prlimit of PID 1":  {prlimit64, 1, syscall.RLIMIT_NOFILE, 0, limitAt},
		"syslog":            {syslog, 10, 0, 0},
		"call of x32":       {0x40000000 | syscall.SYS_GETPID},
		"own prlimit":       {prlimit64, 0, syscall.RLIMIT_NOFILE, 0, limitAt},
		"stream socket":     {syscall.SYS_SOCKET, syscall.AF_INET, syscall.SOCK_STREAM, 0},
		"stream socket 6":   {syscall.SYS_SOCKET, syscall.AF_INET6, syscall.SOCK_STREAM, 0},
		"unix socket":       {syscall.SYS_SOCKET, syscall.AF_UNIX, syscall.SOCK_STREAM, 0},
		"unix pair":         {syscall.SYS_SOCKETPAIR, syscall.AF_UNIX, syscall.SOCK_STREAM, 0, room},
		"netlink route":     {syscall.SYS_SOCKET, afNetlink, syscall.SOCK_RAW, 0},
	}
	said := map[string]string{}
	for what, call := range tried {
		_, _, errno := syscall.RawSyscall6(call[0], call[1], call[2], call[3], call[4], call[5], call[6])
		said[what] = "done"
		if errno != 0 {
			said[what] = errno.Error()
		}
	}
	for what, flags := range map[string]uintptr{"clone user": newUser, "clone net": newNet, "clone user, net": newUser | newNet, "clone nothing": 0} {
		program := exec.Command("/usr/bin/python3", "nothing")
		program.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
		said[what] = "done"
		if err := program.Run(); err != nil {
			said[what] = fmt.Sprint(strings.TrimPrefix(err.Error(), "fork/exec /usr/bin/python3: "))
		}
	}
	return said
}
