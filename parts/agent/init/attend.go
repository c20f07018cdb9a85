package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// What the coordinator says of a program that answers HTTP: contracts/src/agent/container-spec.ts.
type attendedSpec struct {
	FormatVersion int      `json:"formatVersion"`
	Command       []string `json:"command"`
	Directory     string   `json:"directory"`
	// Where calls come in, and where the program has them.
	Door int `json:"door"`
	Port int `json:"port"`
	// A path: a status of 200 to 299 says that the program is well.
	Health string `json:"health"`
	// Of one call, without a byte of an answer.
	CallLimitMs int64 `json:"callLimitMs"`
}

const (
	eventsFile = "/rt/events/events.jsonl"
	wishFile   = "/rt/job/wish.json"

	look = 50 * time.Millisecond
	// As in agent/runners/resontech_replica/standing.py: what may only be busy, and beyond a call's limit what hangs.
	stalledAfter = 8 * time.Second
	limitGrace   = 5 * time.Second
	// A host that stands still adds next to nothing to the time that was watched.
	mostWatched = time.Second

	exitFailed  = 1
	exitStopped = 143

	well    = "well"
	stalled = "stalled"
	asleep  = "asleep"
)

// attended is a program of somebody else's that answers HTTP on 127.0.0.1: it is started, told ready by its health, led its calls, put to
// sleep and woken. It runs beside the lease, which is PID 1's alone: what the program does to this process it does to itself.
type attended struct {
	spec   attendedSpec
	events *os.File
	health *healthWatch
	door   *door
	pid    int
	ended  chan syscall.WaitStatus
	stops  chan os.Signal

	wish    wish
	told    string
	waking  bool
	watched time.Duration
	movedAt time.Duration
	signs   int64
}

type wish struct {
	Order  int  `json:"order"`
	Asleep bool `json:"asleep"`
}

// attend runs to the program's end, or until it is told to stop, and answers with an exit code.
func attend(file string) int {
	spec, err := readAttendedSpec(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rt-init:", err)
		return exitUsage
	}
	events, err := os.OpenFile(eventsFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rt-init:", err)
		return exitNotStarted
	}
	opened, err := openDoor(spec.Door, spec.Port)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rt-init:", err)
		return exitNotStarted
	}
	if err := os.Chdir(spec.Directory); err != nil {
		fmt.Fprintln(os.Stderr, "rt-init: the program's folder:", err)
		return exitNotStarted
	}
	it := &attended{spec: spec, events: events, door: opened, told: well}
	it.stops = make(chan os.Signal, 4)
	signal.Notify(it.stops, syscall.SIGTERM, syscall.SIGINT)
	// A group of its own: whoever signals ours leaves it to us.
	it.pid = start(spec.Command)
	it.ended = make(chan syscall.WaitStatus, 1)
	go it.wait()
	it.health = watchHealth(spec.Port, spec.Health)
	return it.run()
}

func readAttendedSpec(file string) (attendedSpec, error) {
	var spec attendedSpec
	text, err := os.ReadFile(file)
	if err != nil {
		return spec, err
	}
	if err := json.Unmarshal(text, &spec); err != nil {
		return spec, fmt.Errorf("%s: %w", file, err)
	}
	if spec.FormatVersion != 1 {
		return spec, fmt.Errorf("%s: format %d is not 1", file, spec.FormatVersion)
	}
	if len(spec.Command) == 0 {
		return spec, fmt.Errorf("%s names no program", file)
	}
	return spec, nil
}

func (it *attended) wait() {
	var status syscall.WaitStatus
	for {
		pid, err := syscall.Wait4(it.pid, &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err == nil && pid == it.pid {
			it.ended <- status
		}
		return
	}
}

func (it *attended) run() int {
	isReady := false
	ticker := time.NewTicker(look)
	last := time.Now()
	for {
		select {
		case status := <-it.ended:
			return it.end(status)
		case <-it.stops:
			return it.stop()
		case now := <-ticker.C:
			it.watched += min(mostWatched, max(0, now.Sub(last)))
			last = now
			if !isReady {
				isReady = it.health.answers.Load() > 0
				if isReady {
					it.tell(map[string]any{"kind": "ready"})
					it.moved()
				}
				continue
			}
			it.follow(readWish(it.wish))
			if why := it.judge(); why != "" {
				fmt.Fprintln(os.Stderr, "rt-init:", why)
				it.tell(map[string]any{"kind": "failed", "reason": "no_progress", "message": why, "detail": ""})
				_ = syscall.Kill(-1, syscall.SIGKILL)
				return exitFailed
			}
		}
	}
}

// end is of a program that nobody has told to end: that is a failure, whatever it says of itself.
func (it *attended) end(status syscall.WaitStatus) int {
	if code := codeOf(status); code != 0 {
		return code
	}
	it.tell(map[string]any{"kind": "failed", "reason": "payload_exited", "message": "the program ended by itself with exit code 0", "detail": ""})
	return exitFailed
}

// stop passes the word on; who asked kills what takes too long.
func (it *attended) stop() int {
	_ = syscall.Kill(-it.pid, syscall.SIGTERM)
	// What sleeps hears it when it wakes.
	_ = syscall.Kill(-1, syscall.SIGCONT)
	<-it.ended
	return exitStopped
}

// follow does what is wished. All that the program has started sleeps with it; PID 1 and this process are left out by the kernel.
func (it *attended) follow(wished wish) {
	if wished == it.wish {
		return
	}
	if wished.Asleep && !it.wish.Asleep {
		it.health.pause()
		_ = syscall.Kill(-1, syscall.SIGSTOP)
	} else if it.wish.Asleep && !wished.Asleep {
		_ = syscall.Kill(-1, syscall.SIGCONT)
		it.health.resume()
		it.moved()
		it.waking = true
	}
	it.wish = wished
	it.told = ""
}

// judge tells how the program stands where that has changed; not empty: why it hangs.
func (it *attended) judge() string {
	if it.wish.Asleep {
		it.stands(asleep)
		return ""
	}
	if signs := it.health.answers.Load() + it.door.answered.Load(); signs != it.signs {
		it.moved()
		it.waking = it.waking && it.health.answers.Load() == 0
	}
	silent := it.watched - it.movedAt
	limit := time.Duration(it.spec.CallLimitMs)*time.Millisecond + limitGrace
	if silent > limit {
		return fmt.Sprintf("the program has answered nothing for %.0f s, its %s neither", silent.Seconds(), it.spec.Health)
	}
	if it.waking {
		return ""
	}
	if silent > stalledAfter {
		it.stands(stalled)
	} else {
		it.stands(well)
	}
	return ""
}

func (it *attended) moved() {
	it.movedAt = it.watched
	it.signs = it.health.answers.Load() + it.door.answered.Load()
}

func (it *attended) stands(standing string) {
	if standing == it.told {
		return
	}
	it.told = standing
	it.tell(map[string]any{"kind": "standing", "standing": standing, "order": it.wish.Order})
}

// tell appends one line by one write: a reader never sees half of two.
func (it *attended) tell(event map[string]any) {
	event["t"] = time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	line, err := json.Marshal(event)
	if err == nil {
		_, err = it.events.Write(append(line, '\n'))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rt-init: an event could not be told:", err)
	}
}

// readWish answers with the last wish where there is no other that can be read: the file is replaced as a whole.
func readWish(last wish) wish {
	text, err := os.ReadFile(wishFile)
	if err != nil {
		return last
	}
	var said wish
	if json.Unmarshal(text, &said) != nil {
		return last
	}
	return said
}

// healthWatch asks the program how it is, again and again, in a connection of its own each time.
type healthWatch struct {
	address string
	request string
	// Good ones since the program was started, or woken.
	answers  atomic.Int64
	isPaused atomic.Bool
	// Grows with each wake: what was asked before it counts for nothing.
	wakes atomic.Int64
}

const (
	askEvery   = time.Second
	askFirst   = 100 * time.Millisecond
	askLimit   = 5 * time.Second
	statusLine = 64
)

func watchHealth(port int, path string) *healthWatch {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	it := &healthWatch{
		address: address,
		request: "GET " + path + " HTTP/1.1\r\nHost: " + address + "\r\nUser-Agent: resontech-health\r\nAccept: */*\r\nConnection: close\r\n\r\n",
	}
	go it.run()
	return it
}

func (it *healthWatch) pause() { it.isPaused.Store(true) }

func (it *healthWatch) resume() {
	it.answers.Store(0)
	it.wakes.Add(1)
	it.isPaused.Store(false)
}

func (it *healthWatch) run() {
	for {
		wakes := it.wakes.Load()
		if !it.isPaused.Load() && it.ask() && wakes == it.wakes.Load() && !it.isPaused.Load() {
			it.answers.Add(1)
		}
		// Who is waited for is asked more often.
		if it.answers.Load() == 0 {
			time.Sleep(askFirst)
		} else {
			time.Sleep(askEvery)
		}
	}
}

func (it *healthWatch) ask() bool {
	connection, err := net.DialTimeout("tcp", it.address, askLimit)
	if err != nil {
		return false
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(askLimit))
	if _, err := connection.Write([]byte(it.request)); err != nil {
		return false
	}
	said := make([]byte, 0, statusLine)
	for len(said) < statusLine {
		piece := make([]byte, statusLine-len(said))
		count, err := connection.Read(piece)
		said = append(said, piece[:count]...)
		if err != nil || strings.Contains(string(said), "\r\n") {
			break
		}
	}
	return isWell(string(said))
}

// isWell is of the beginning of an answer: "HTTP/1.1 200 OK".
func isWell(said string) bool {
	fields := strings.Fields(said)
	if len(fields) < 2 || !strings.HasPrefix(fields[0], "HTTP/1.") {
		return false
	}
	status, err := strconv.Atoi(fields[1])
	return err == nil && status >= 200 && status < 300
}
