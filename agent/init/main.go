// Command rt-init is PID 1 of every job container: it starts the payload, forwards signals, reaps, and kills the whole PID namespace
// when the lease expires, whatever became of the agent. Usage: rt-init PROGRAM [ARGUMENT…]
package main

import (
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
	leaseFile = "/rt/lease/lease"
	poll      = time.Second
	// A lease that can't be read is no lease: two polls may pass for the rename of a new one, no more.
	unreadableLimit = 3
	clockBoottime   = 7
	exitLeaseLost   = 75
)

// bootTimeNs counts suspend, as the agent's own clock does.
func bootTimeNs() int64 {
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

func leaseHolds() (bool, bool) {
	text, err := os.ReadFile(leaseFile)
	if err != nil || len(text) > 64 {
		return false, false
	}
	deadline, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return false, false
	}
	return bootTimeNs() < deadline, true
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: rt-init PROGRAM [ARGUMENT…]")
		os.Exit(2)
	}
	program, err := exec.LookPath(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "rt-init:", err)
		os.Exit(127)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCHLD)
	payload, err := syscall.ForkExec(program, os.Args[1:], &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "rt-init:", err)
		os.Exit(126)
	}
	ticker := time.NewTicker(poll)
	unreadable := 0
	for {
		select {
		case received := <-signals:
			if received == syscall.SIGCHLD {
				reap(payload)
				continue
			}
			_ = syscall.Kill(-payload, received.(syscall.Signal))
		case <-ticker.C:
			reap(payload)
			holds, readable := leaseHolds()
			if readable {
				unreadable = 0
			} else {
				unreadable++
			}
			if readable && !holds || unreadable >= unreadableLimit {
				fmt.Fprintln(os.Stderr, "rt-init: the lease has expired; everything in this container ends")
				end(exitLeaseLost)
			}
		}
	}
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
		if pid != payload {
			continue
		}
		if status.Signaled() {
			end(128 + int(status.Signal()))
		}
		end(status.ExitStatus())
	}
}

// end kills what is left of the namespace; as PID 1 only we survive a signal to all.
func end(code int) {
	if os.Getpid() == 1 {
		_ = syscall.Kill(-1, syscall.SIGKILL)
	}
	os.Exit(code)
}
