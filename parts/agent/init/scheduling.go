package main

import (
	"runtime"
	"syscall"
	"unsafe"
)

const (
	prSetNoNewPrivs   = 38
	prSetSeccomp      = 22
	seccompModeFilter = 2

	// Of the filter's answers and of the call that it judges: linux/seccomp.h, linux/audit.h. The kernel takes these arguments by their lower half.
	allowed        = 0x7fff0000
	refused        = 0x00050000 | uint32(syscall.EPERM)
	unknown        = 0x00050000 | uint32(syscall.ENOSYS)
	atNumber       = 0
	atArchitecture = 4
	atFirst        = 16
	atSecond       = 24
	x86_64         = 0xc000003e
	firstOfX32     = 0x40000000

	schedSetattr  = 314
	schedOther    = 0
	prioProcess   = 0
	ioprioProcess = 1
	itself        = 0
)

type condition struct{ at, value uint32 }

// keepSchedule lets what this thread starts say when its own threads run, each for itself, and no other thread. The kernel allows it for all
// threads of a uid: with ours at idle priority, beside a few hundred busy ones, the lease would not be looked at for minutes.
//
// One call may name any thread: sched_setscheduler with SCHED_OTHER, which libzmq makes for each of its threads and aborts without. It is what all
// of ours have, and it keeps their niceness. The policy is in a register, so nobody changes it after it was judged; SCHED_RESET_ON_FORK is a bit of
// it, and another value. sched_setattr has its policy in memory, where another thread may write meanwhile: it stays refused.
func keepSchedule() error {
	runtime.LockOSThread()
	filter := scheduleFilter()
	program := syscall.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetSeccomp, seccompModeFilter, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	return nil
}

func scheduleFilter() []syscall.SockFilter {
	filter := []syscall.SockFilter{
		load(atArchitecture),
		// Calls have other numbers there, and no job image is of another kind.
		isEqual(x86_64, 1, 0),
		answer(unknown),
		load(atNumber),
		{Code: syscall.BPF_JMP | syscall.BPF_JGE | syscall.BPF_K, K: firstOfX32, Jf: 1},
		answer(unknown),
	}
	filter = append(filter, either(syscall.SYS_SCHED_SETSCHEDULER, condition{atFirst, itself}, condition{atSecond, schedOther})...)
	for _, call := range []uint32{syscall.SYS_SCHED_SETPARAM, syscall.SYS_SCHED_SETAFFINITY, schedSetattr} {
		filter = append(filter, only(call, condition{atFirst, itself})...)
	}
	filter = append(filter, only(syscall.SYS_SETPRIORITY, condition{atFirst, prioProcess}, condition{atSecond, itself})...)
	filter = append(filter, only(syscall.SYS_IOPRIO_SET, condition{atFirst, ioprioProcess}, condition{atSecond, itself})...)
	return append(filter, answer(allowed))
}

// only allows the call when its arguments are these; any other call is left to what follows.
func only(call uint32, conditions ...condition) []syscall.SockFilter {
	var judged []syscall.SockFilter
	for _, condition := range conditions {
		judged = append(judged, load(condition.at), isEqual(condition.value, 1, 0), answer(refused))
	}
	judged = append(judged, answer(allowed))
	return append([]syscall.SockFilter{isEqual(call, 0, uint8(len(judged)))}, judged...)
}

// either allows the call when one of its arguments is this; any other call is left to what follows.
func either(call uint32, conditions ...condition) []syscall.SockFilter {
	var judged []syscall.SockFilter
	for _, condition := range conditions {
		judged = append(judged, load(condition.at), isEqual(condition.value, 0, 1), answer(allowed))
	}
	judged = append(judged, answer(refused))
	return append([]syscall.SockFilter{isEqual(call, 0, uint8(len(judged)))}, judged...)
}

func load(at uint32) syscall.SockFilter {
	return syscall.SockFilter{Code: syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS, K: at}
}

// isEqual skips so many instructions when the loaded word is this, and so many when it is not.
func isEqual(value uint32, then, otherwise uint8) syscall.SockFilter {
	return syscall.SockFilter{Code: syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K, K: value, Jt: then, Jf: otherwise}
}

func answer(with uint32) syscall.SockFilter {
	return syscall.SockFilter{Code: syscall.BPF_RET | syscall.BPF_K, K: with}
}
