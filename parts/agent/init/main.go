// Command rt-init is PID 1 of every job container: it starts the payload, forwards signals, reaps, and ends the whole PID namespace
// when the lease expires, whatever became of the agent.
//
//	rt-init -lease FILE -output FILE -- PROGRAM [ARGUMENT…]
//
// As the payload itself, `rt-init -attend FILE` stands beside a program that answers HTTP and knows nothing of us: attend.go.
//
// The lease file holds a deadline: nanoseconds since boot, suspend included, in decimal. The payload's standard output and error go
// to the output file, which lies on the member's own file system: what a job says can fill nothing but what is its own.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	poll = time.Second
	// A lease that can't be read is no lease, but one poll may meet a file system that has to be asked again.
	unreadableLimit = 3
	maxLeaseBytes   = 64
	clockBoottime   = 7
	prSetDumpable   = 4

	exitUsage      = 2
	exitNotStarted = 126
	exitNotFound   = 127
	// Said by nobody else: a payload that ends with one of them is passed on as 1.
	exitLeaseLost   = 75
	exitOutOfMemory = 76
)

// The kernel's count of processes that it killed at this container's memory limit: control groups version 2, then version 1.
var oomFiles = []string{"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"}

func main() {
	lease := flag.String("lease", "/rt/lease/lease", "file with the boot-time deadline in ns")
	output := flag.String("output", "", "file for what the payload says; empty: where rt-init says it")
	attended := flag.String("attend", "", "file that says which program to attend to; not as PID 1")
	flag.Parse()
	if *attended != "" {
		os.Exit(attend(*attended))
	}
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: rt-init -lease FILE -output FILE -- PROGRAM [ARGUMENT…]")
		os.Exit(exitUsage)
	}
	// The payload has our uid. Not dumpable, we can't be traced by it and our memory can't be written, so it can't stop the clock.
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetDumpable, 0, 0)
	if *output != "" {
		redirect(*output)
	}
	if !leaseHolds(*lease) {
		fmt.Fprintln(os.Stderr, "rt-init: there is no lease to start under")
		os.Exit(exitLeaseLost)
	}
	if err := keepSchedule(); err != nil {
		fmt.Fprintln(os.Stderr, "rt-init: the payload can't be kept from when we run:", err)
		os.Exit(exitNotStarted)
	}
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCHLD)
	payload := start(flag.Args())
	watch(payload, *lease, signals)
}

func redirect(file string) {
	fd, err := syscall.Open(file, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rt-init:", file, err)
		os.Exit(exitNotStarted)
	}
	for _, standard := range []int{1, 2} {
		if err := syscall.Dup3(fd, standard, 0); err != nil {
			os.Exit(exitNotStarted)
		}
	}
	_ = syscall.Close(fd)
}

func start(command []string) int {
	program, err := exec.LookPath(command[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "rt-init:", err)
		os.Exit(exitNotFound)
	}
	pid, err := syscall.ForkExec(program, command, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "rt-init:", err)
		os.Exit(exitNotStarted)
	}
	return pid
}

func watch(payload int, lease string, signals <-chan os.Signal) {
	ticker := time.NewTicker(poll)
	unreadable := 0
	for {
		select {
		case received := <-signals:
			if received == syscall.SIGCHLD {
				reap(payload)
			} else {
				_ = syscall.Kill(-payload, received.(syscall.Signal))
			}
		case <-ticker.C:
			// Signals of one kind are not queued: a child's end may have passed unheard.
			reap(payload)
			deadline, err := readLease(lease)
			if err == nil {
				unreadable = 0
			} else {
				unreadable++
			}
			if unreadable >= unreadableLimit || err == nil && bootTimeNs() >= deadline {
				fmt.Fprintln(os.Stderr, "rt-init: the lease has expired; everything in this container ends")
				end(exitLeaseLost)
			}
		}
	}
}

func leaseHolds(file string) bool {
	deadline, err := readLease(file)
	return err == nil && bootTimeNs() < deadline
}

func readLease(file string) (int64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	if len(text) > maxLeaseBytes {
		return 0, fmt.Errorf("a lease of %d bytes", len(text))
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// bootTimeNs counts suspend, as the agent's own clock does.
func bootTimeNs() int64 {
	var now syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

// reap collects every dead child; the payload's end is ours.
func reap(payload int) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if pid == payload {
			end(codeOf(status))
		}
	}
}

func codeOf(status syscall.WaitStatus) int {
	code := status.ExitStatus()
	if status.Signaled() {
		code = 128 + int(status.Signal())
	}
	if code != 0 && oomKills() > 0 {
		return exitOutOfMemory
	}
	if code == exitLeaseLost || code == exitOutOfMemory {
		return 1
	}
	return code
}

// oomKills is read here because the group is gone with its last process, and engines tell of the first process alone.
func oomKills() int {
	for _, file := range oomFiles {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(text), "\n") {
			if count, isIt := strings.CutPrefix(line, "oom_kill "); isIt {
				kills, _ := strconv.Atoi(strings.TrimSpace(count))
				return kills
			}
		}
	}
	return 0
}

// end kills what is left of the namespace: as PID 1 we alone survive a signal to all, and our own end takes the rest.
func end(code int) {
	if os.Getpid() == 1 {
		_ = syscall.Kill(-1, syscall.SIGKILL)
	}
	os.Exit(code)
}
