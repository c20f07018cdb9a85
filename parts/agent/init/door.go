package main

import (
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// door is where calls come into the container. The program listens on 127.0.0.1, or wherever it likes: nobody but this one is led to it.
type door struct {
	target string
	// Grows with what the program answers.
	answered atomic.Int64
}

const (
	dialLimit = 5 * time.Second
	pieceSize = 32 * 1024
	// Connections may run out of file descriptors: those that end give some back.
	acceptPause = 50 * time.Millisecond
)

func openDoor(at, target int) (*door, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("0.0.0.0", strconv.Itoa(at)))
	if err != nil {
		return nil, err
	}
	it := &door{target: net.JoinHostPort("127.0.0.1", strconv.Itoa(target))}
	go it.serve(listener)
	return it, nil
}

func (it *door) serve(listener net.Listener) {
	for {
		caller, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(acceptPause)
			continue
		}
		go it.lead(caller.(*net.TCPConn))
	}
}

// lead copies both ways. Each side's end is passed on by itself: a program may answer after the last byte of a request.
func (it *door) lead(caller *net.TCPConn) {
	defer caller.Close()
	dialled, err := net.DialTimeout("tcp4", it.target, dialLimit)
	if err != nil {
		return
	}
	program := dialled.(*net.TCPConn)
	defer program.Close()
	var both sync.WaitGroup
	both.Go(func() { pass(caller, program, nil) })
	both.Go(func() { pass(program, caller, &it.answered) })
	both.Wait()
}

// pass ends both sides at once where one breaks: who hung up in the middle waits for nothing.
func pass(from, to *net.TCPConn, count *atomic.Int64) {
	piece := make([]byte, pieceSize)
	for {
		read, err := from.Read(piece)
		if read > 0 {
			if count != nil {
				count.Add(1)
			}
			if _, failed := to.Write(piece[:read]); failed != nil {
				break
			}
		}
		if err == io.EOF {
			_ = to.CloseWrite()
			return
		}
		if err != nil {
			break
		}
	}
	_ = from.Close()
	_ = to.Close()
}
