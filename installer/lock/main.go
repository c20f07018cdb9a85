// Command rt-lock takes the kernel's lock on a file that its caller has open, for callers that have no flock(2).
//
//	rt-lock 3<FILE
//
// The lock belongs to the open file, which both processes share: the caller keeps it when this process has ended, and until the caller closes
// the file or ends itself. Exit status: 0 taken, 1 somebody else holds it, 2 the descriptor can't be locked.
package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

const (
	exitHeld  = 1
	exitWrong = 2

	descriptor = 3
)

func main() {
	err := syscall.Flock(descriptor, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		os.Exit(exitHeld)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "rt-lock: descriptor %d: %v\n", descriptor, err)
		os.Exit(exitWrong)
	}
}
