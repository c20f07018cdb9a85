package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

const bulkBytes = 32 << 20

// gang is a federation of all sites of the job: each says its name, sends bytes and hears their digest, waits for all the others, and
// leaves when the server says so. A site that loses its connection comes again. `gang-long` lasts ten seconds more,
// `gang-lasting` until it is ended.
func gang(s spec) {
	if s.Role == "client" {
		gangClient(s)
		return
	}
	var hall = struct {
		sync.Mutex
		present map[string]net.Conn
		left    map[string]bool
		isOver  bool
	}{present: map[string]net.Conn{}, left: map[string]bool{}}
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", s.ServerPort))
	check(err)
	event(map[string]any{"kind": "ready"})
	serve := func(peer net.Conn) {
		defer peer.Close()
		reader := bufio.NewReader(peer)
		line, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		words := strings.Fields(line)
		if words[0] == "bulk" {
			// The site's end of its bytes is an end, not a loss: the digest goes back after it.
			digest := sha256.New()
			_, err := io.Copy(digest, reader)
			check(err)
			fmt.Fprintf(peer, "%x\n", digest.Sum(nil))
			return
		}
		hall.Lock()
		hall.present[words[0]] = peer
		if hall.isOver {
			fmt.Fprintln(peer, "over")
		}
		hall.Unlock()
		_, _ = io.Copy(io.Discard, reader)
		hall.Lock()
		hall.left[words[0]] = hall.isOver
		hall.Unlock()
	}
	go func() {
		for {
			peer, err := listener.Accept()
			check(err)
			go serve(peer)
		}
	}()
	count := func(of func() int) int {
		hall.Lock()
		defer hall.Unlock()
		return of()
	}
	for count(func() int { return len(hall.present) }) < len(s.Sites) {
		time.Sleep(20 * time.Millisecond)
	}
	event(map[string]any{"kind": "job-started", "nvflareJob": "3f1e"})
	event(map[string]any{"kind": "round-started", "round": 0, "numRounds": 1})
	if strings.HasPrefix(s.Job, "gang-long") {
		time.Sleep(10 * time.Second)
	}
	if strings.HasPrefix(s.Job, "gang-lasting") {
		time.Sleep(10 * time.Minute)
	}
	check(os.WriteFile("/app/out/GLOBAL_MODEL.pt", []byte("weights"), 0o600))
	check(os.WriteFile("/rt/events/training_log.txt", nil, 0o600))
	event(map[string]any{"kind": "round-ended", "round": 0, "sites": s.Sites})
	hall.Lock()
	hall.isOver = true
	for _, peer := range hall.present {
		fmt.Fprintln(peer, "over")
	}
	hall.Unlock()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if count(func() int {
			left := 0
			for _, isGone := range hall.left {
				if isGone {
					left++
				}
			}
			return left
		}) == len(s.Sites) {
			break
		}
	}
	event(map[string]any{"kind": "finished", "modelFile": "/app/out/GLOBAL_MODEL.pt", "modelName": "GLOBAL_MODEL.pt"})
}

func gangClient(s spec) {
	server := fmt.Sprintf("%s:%d", s.ServerName, s.ServerPort)
	found := map[string]any{"hosts": read("/etc/hosts")}
	await(server).Close()
	event(map[string]any{"kind": "ready"})
	connected := dialAll(strings.Fields(read("/app/payload/dial.txt")))
	found["connected"] = connected
	found["bulk"] = bulk(server)
	text, err := json.Marshal(found)
	check(err)
	event(map[string]any{"kind": "metric", "site": s.Site, "value": string(text)})
	for {
		peer := await(server)
		fmt.Fprintln(peer, s.Site)
		line, err := bufio.NewReader(peer).ReadString('\n')
		peer.Close()
		if err == nil && strings.TrimSpace(line) == "over" {
			break
		}
		fmt.Println("the connection was lost:", err)
		time.Sleep(50 * time.Millisecond)
	}
	event(map[string]any{"kind": "finished"})
}

func await(server string) net.Conn {
	for {
		peer, err := net.DialTimeout("tcp", server, 2*time.Second)
		if err == nil {
			return peer
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// bulk sends bytes nobody could guess, ends its side alone, and says whether the server's digest is theirs.
func bulk(server string) string {
	peer := await(server)
	defer peer.Close()
	fmt.Fprintln(peer, "bulk")
	digest := sha256.New()
	_, err := io.Copy(io.MultiWriter(peer, digest), io.LimitReader(rand.New(rand.NewSource(1)), bulkBytes))
	check(err)
	check(peer.(*net.TCPConn).CloseWrite())
	line, err := bufio.NewReader(peer).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	if strings.TrimSpace(line) != fmt.Sprintf("%x", digest.Sum(nil)) {
		return "damaged"
	}
	return "whole"
}

// dialAll dials all at once and answers those that took the connection.
func dialAll(addresses []string) []string {
	results := make([]string, len(addresses))
	var all sync.WaitGroup
	for at, address := range addresses {
		all.Add(1)
		go func() {
			defer all.Done()
			results[at] = dial(strings.Replace(address, "gateway", gateway(), 1))
		}()
	}
	all.Wait()
	connected := []string{}
	for at, address := range addresses {
		if results[at] == "connected" {
			connected = append(connected, address)
		}
	}
	return connected
}
