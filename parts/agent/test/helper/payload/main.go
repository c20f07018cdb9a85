// Stands in for the interpreter of a job image: behaves as the first part of the job's id says, speaking the runner's file contract.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type spec struct {
	Role       string   `json:"role"`
	Job        string   `json:"job"`
	ServerName string   `json:"serverName"`
	ServerPort int      `json:"serverPort"`
	Sites      []string `json:"sites"`
	Site       string   `json:"site"`
}

func event(fields map[string]any) {
	fields["t"] = time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	appendLine("/rt/events/events.jsonl", fields)
}

func appendLine(file string, fields map[string]any) {
	line, _ := json.Marshal(fields)
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	check(err)
	defer f.Close()
	_, err = f.Write(append(line, '\n'))
	check(err)
}

func check(err error) {
	if err != nil {
		fmt.Println("payload:", err)
		os.Exit(1)
	}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "orphan" {
		time.Sleep(time.Hour)
	}
	if len(os.Args) > 1 && os.Args[1] == "nothing" {
		return
	}
	if len(os.Args) > 3 && strings.HasSuffix(os.Args[2], "/trial.py") {
		trial(os.Args[3])
		return
	}
	var s spec
	text, err := os.ReadFile("/rt/job/spec.json")
	check(err)
	check(json.Unmarshal(text, &s))
	fmt.Println("hello from", s.Role)
	switch strings.Split(s.Job, "-")[0] {
	case "train":
		train(s)
	case "gang":
		gang(s)
	case "probe":
		probe(s)
	case "hostile":
		hostile()
	case "rounds":
		rounds()
	case "yields":
		yields()
	case "brisk":
		brisk()
	case "fill":
		fill()
	case "climb":
		climb()
	case "hog":
		hog()
	case "sleep":
		sleepUntilTerm(s)
	case "swarm":
		swarm()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		event(map[string]any{"kind": "ready"})
		time.Sleep(time.Hour)
	case "thief":
		thief()
	case "flood":
		flood()
	case "hole":
		hole(s.Job)
	case "crash":
		fmt.Println("about to crash")
		os.Exit(7)
	default:
		fmt.Println("no such behaviour:", s.Job)
		os.Exit(2)
	}
}

// train is a federation in small: clients say a line to the server, which runs one round when all have come.
func train(s spec) {
	if s.Role == "client" {
		trainClient(s)
		return
	}
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", s.ServerPort))
	check(err)
	event(map[string]any{"kind": "ready"})
	peer, site := firstSite(listener)
	event(map[string]any{"kind": "site-registered", "site": site})
	event(map[string]any{"kind": "job-started", "nvflareJob": "3f1e"})
	event(map[string]any{"kind": "round-started", "round": 0, "numRounds": 1})
	event(map[string]any{"kind": "metric", "site": site, "value": `{"accuracy":0.5}`})
	check(os.WriteFile("/app/out/GLOBAL_MODEL.pt", []byte(strings.Repeat("weights ", 1<<17)), 0o600))
	check(os.WriteFile("/rt/events/training_log.txt", []byte("round 0 done\n"), 0o600))
	appendLine("/rt/events/metrics.jsonl", map[string]any{"kind": "round-ended", "round": 0})
	event(map[string]any{"kind": "round-ended", "round": 0, "sites": []string{site}})
	fmt.Fprintln(peer, "over")
	if strings.HasPrefix(s.Job, "train-long") {
		time.Sleep(6 * time.Second)
	}
	event(map[string]any{"kind": "finished", "modelFile": "/app/out/GLOBAL_MODEL.pt", "modelName": "GLOBAL_MODEL.pt"})
}

// rounds leaves three models, of which the second is overwritten before anybody could have copied it and the third is not the job's own.
func rounds() {
	fmt.Println("resumed from", read("/rt/job/resume/model.pt"))
	event(map[string]any{"kind": "ready"})
	const file = "/app/out/GLOBAL_MODEL.pt"
	told := func(round int, path, content string) {
		event(map[string]any{"kind": "round-ended", "round": round, "sites": []string{"site-1"}})
		digest := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
		event(map[string]any{"kind": "round-model", "round": round, "file": path, "sha256": digest})
		// Longer than the agent waits between two commits.
		time.Sleep(2500 * time.Millisecond)
	}
	check(os.WriteFile(file, []byte("model of round 0"), 0o600))
	told(0, file, "model of round 0")
	check(os.WriteFile(file, []byte("model of round 2"), 0o600))
	told(1, file, "model of round 1")
	check(os.Symlink("/etc/passwd", "/app/out/link"))
	told(2, "/app/out/link", "anything")
	event(map[string]any{"kind": "finished", "modelFile": file, "modelName": "GLOBAL_MODEL.pt"})
}

// yields ends a round once it is told to commit, as a runner does.
func yields() {
	event(map[string]any{"kind": "ready"})
	event(map[string]any{"kind": "job-started", "nvflareJob": "3f1e"})
	for {
		if _, err := os.Stat("/rt/job/commit-order.json"); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	const file, model = "/app/out/GLOBAL_MODEL.pt", "model of round 4"
	check(os.WriteFile(file, []byte(model), 0o600))
	event(map[string]any{"kind": "round-ended", "round": 4, "sites": []string{"site-1"}})
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(model)))
	event(map[string]any{"kind": "round-model", "round": 4, "file": file, "sha256": digest})
	os.Exit(143)
}

// brisk ends ten rounds a second for seven seconds, each with a line of the log and a model of its own.
func brisk() {
	event(map[string]any{"kind": "ready"})
	var file, model string
	for round := range 70 {
		log, err := os.OpenFile("/rt/events/training_log.txt", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		check(err)
		fmt.Fprintf(log, "round %d done\n", round)
		check(log.Close())
		event(map[string]any{"kind": "round-ended", "round": round, "sites": []string{"site-1"}})
		file = fmt.Sprintf("/app/out/model-%d.pt", round)
		model = fmt.Sprintf("model of round %d", round)
		check(os.WriteFile(file, []byte(model), 0o600))
		digest := fmt.Sprintf("%x", sha256.Sum256([]byte(model)))
		event(map[string]any{"kind": "round-model", "round": round, "file": file, "sha256": digest})
		time.Sleep(100 * time.Millisecond)
	}
	event(map[string]any{"kind": "finished", "modelFile": file, "modelName": "GLOBAL_MODEL.pt"})
}

// firstSite waits for a client that says its name: one whose dial timed out just as it came through has hung up, and dials again.
func firstSite(listener net.Listener) (net.Conn, string) {
	for {
		peer, err := listener.Accept()
		check(err)
		if site, err := bufio.NewReader(peer).ReadString('\n'); err == nil {
			return peer, strings.TrimSpace(site)
		}
		peer.Close()
	}
}

func trainClient(s spec) {
	var peer net.Conn
	for peer == nil {
		found, err := net.DialTimeout("tcp", fmt.Sprintf("%s:%d", s.ServerName, s.ServerPort), time.Second)
		if err == nil {
			peer = found
		} else {
			time.Sleep(50 * time.Millisecond)
		}
	}
	event(map[string]any{"kind": "ready"})
	shard, err := os.ReadFile("/app/payload/data/numbers.csv")
	check(err)
	alias, err := os.ReadFile("/var/tmp/nvflare/data/data/numbers.csv")
	check(err)
	if string(shard) != string(alias) {
		check(fmt.Errorf("the data root's two names differ"))
	}
	check(os.MkdirAll("/app/payload/runs/round_0", 0o755))
	fmt.Fprintln(peer, "site-1")
	_, err = bufio.NewReader(peer).ReadString('\n')
	check(err)
	event(map[string]any{"kind": "finished"})
}

// probe tells what a job can see and do, as one metric.
func probe(s spec) {
	found := map[string]any{
		"uid": os.Getuid(), "gid": os.Getgid(), "pid1": firstLine("/proc/1/cmdline"),
		"env": os.Environ(),
	}
	for _, line := range strings.Split(read("/proc/self/status"), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			switch name {
			case "CapEff", "CapBnd", "CapPrm", "NoNewPrivs", "Seccomp":
				found[name] = strings.TrimSpace(value)
			}
		}
	}
	found["mounts"] = read("/proc/self/mounts")
	writable := []string{}
	for _, folder := range []string{"/", "/etc", "/usr", "/run", "/var/tmp", "/rt", "/rt/job", "/rt/job/kit", "/rt/lease", "/rt/runner",
		"/app", "/app/payload", "/app/out", "/app/workspace", "/tmp", "/rt/events", "/var/tmp/nvflare/data", "/proc/sys", "/sys", "/dev"} {
		file := filepath.Join(folder, ".probe")
		if os.WriteFile(file, nil, 0o600) == nil {
			writable = append(writable, folder)
			os.Remove(file)
		}
	}
	found["writable"] = writable
	found["routes"] = read("/proc/net/route")
	dials := map[string]string{}
	for _, address := range strings.Fields(read("/app/payload/dial.txt")) {
		dials[address] = dial(strings.Replace(address, "gateway", gateway(), 1))
	}
	found["dials"] = dials
	found["hosts"] = read("/etc/hosts")
	found["devices"] = list("/dev")
	found["memoryLimit"] = strings.TrimSpace(read("/sys/fs/cgroup/memory/memory.limit_in_bytes") + read("/sys/fs/cgroup/memory.max"))
	found["cpuQuota"] = strings.TrimSpace(read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") + read("/sys/fs/cgroup/cpu.max"))
	var files syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files)
	found["openFiles"] = fmt.Sprint(files.Max)
	found["pidsLimit"] = strings.TrimSpace(read("/sys/fs/cgroup/pids/pids.max") + read("/sys/fs/cgroup/pids.max"))
	found["resolves"] = resolves("deb.debian.org")
	found["keyMode"] = mode("/rt/job/kit/member.key")
	found["initMemory"] = open("/proc/1/mem")
	text, err := json.Marshal(found)
	check(err)
	check(os.WriteFile("/rt/events/metrics.jsonl", text, 0o600))
	check(os.WriteFile("/rt/events/training_log.txt", nil, 0o600))
	check(os.WriteFile("/app/out/GLOBAL_MODEL.pt", []byte("w"), 0o600))
	event(map[string]any{"kind": "finished", "modelFile": "/app/out/GLOBAL_MODEL.pt", "modelName": "GLOBAL_MODEL.pt"})
}

// gateway is the first address of our network: the host's end of the bridge.
func gateway() string {
	addresses, err := net.InterfaceAddrs()
	check(err)
	for _, address := range addresses {
		if own, ok := address.(*net.IPNet); ok && own.IP.To4() != nil && !own.IP.IsLoopback() {
			return net.IP(append(append([]byte{}, own.IP.To4()[:3]...), 1)).String()
		}
	}
	return "none"
}

func dial(address string) string {
	connection, err := net.DialTimeout("tcp", address, 1500*time.Millisecond)
	if err != nil {
		return err.Error()
	}
	connection.Close()
	return "connected"
}

func resolves(name string) string {
	addresses, err := net.LookupHost(name)
	if err != nil {
		return "no"
	}
	return strings.Join(addresses, " ")
}

// fill uses up the file system, then ends as a job does whose write failed.
func fill() {
	file, err := os.Create("/tmp/fill")
	check(err)
	block := make([]byte, 1<<20)
	for {
		if _, err := file.Write(block); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

func hog() {
	var kept [][]byte
	for {
		block := make([]byte, 16<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		kept = append(kept, block)
		if len(kept) > 1<<16 {
			return
		}
	}
}

// climb takes memory so slowly that a look each second sees it grow.
func climb() {
	var kept [][]byte
	for {
		block := make([]byte, 2<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		kept = append(kept, block)
		time.Sleep(100 * time.Millisecond)
	}
}

// swarm has as many threads as it may, less a few for the runtime of this language, which ends where it gets none.
func swarm() {
	limit, err := strconv.Atoi(strings.TrimSpace(read("/sys/fs/cgroup/pids/pids.max") + read("/sys/fs/cgroup/pids.max")))
	check(err)
	for count := 24; count < limit; count++ {
		begun := make(chan bool)
		go func() {
			runtime.LockOSThread()
			begun <- true
			_ = syscall.Pause()
		}()
		<-begun
	}
	event(map[string]any{"kind": "ready"})
	time.Sleep(time.Hour)
}

func sleepUntilTerm(s spec) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	// A grandchild that outlives its parent: PID 1 must reap and, at the end, kill it.
	check(exec.Command("/usr/bin/python3", "orphan").Start())
	event(map[string]any{"kind": "ready"})
	<-signals
	os.Exit(143)
}

// thief points what the agent reads at files that are not the job's.
func thief() {
	check(os.Symlink("/etc/shadow", "/rt/events/training_log.txt"))
	check(os.Symlink("/", "/app/out/host"))
	file := "/app/out/host" + strings.TrimSpace(read("/app/payload/target.txt"))
	event(map[string]any{"kind": "finished", "modelFile": file, "modelName": "GLOBAL_MODEL.pt"})
}

// flood says far more than anybody can take.
func flood() {
	line := strings.Repeat("noise ", 200) + "\n"
	for written := 0; written < 64<<20; written += len(line) {
		fmt.Print(line)
	}
	for i := 0; i < 20000; i++ {
		event(map[string]any{"kind": "metric", "site": "site-1", "value": fmt.Sprintf(`{"i":%d}`, i)})
	}
	check(os.WriteFile("/app/out/GLOBAL_MODEL.pt", []byte("w"), 0o600))
	event(map[string]any{"kind": "finished", "modelFile": "/app/out/GLOBAL_MODEL.pt", "modelName": "GLOBAL_MODEL.pt"})
}

// hole makes one of its files far larger than what it takes, then ends in good order; another part of the job's id says which.
func hole(job string) {
	const model = "/app/out/GLOBAL_MODEL.pt"
	check(os.WriteFile(model, []byte("w"), 0o600))
	switch strings.Split(job, "-")[1] {
	case "events":
		const events = "/rt/events/events.jsonl"
		check(os.WriteFile(events, nil, 0o600))
		check(os.Truncate(events, 9<<30))
		f, err := os.OpenFile(events, os.O_APPEND|os.O_WRONLY, 0)
		check(err)
		_, err = f.WriteString("\n")
		check(err)
		check(f.Close())
	case "model":
		check(os.Truncate(model, 15<<40))
	}
	event(map[string]any{"kind": "finished", "modelFile": model, "modelName": "GLOBAL_MODEL.pt"})
}

func read(file string) string {
	text, _ := os.ReadFile(file)
	return string(text)
}

func firstLine(file string) string {
	return strings.ReplaceAll(read(file), "\x00", " ")
}

func list(folder string) []string {
	names := []string{}
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func mode(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return err.Error()
	}
	return info.Mode().String()
}

func open(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return err.Error()
	}
	f.Close()
	return "opened"
}

// trial stands in for runners/trial.py: it looks for the one device that it should have, and some pretended ones compute nothing.
func trial(vendor string) {
	found, err := filepath.Glob("/dev/pretended*")
	check(err)
	device := os.Getenv("PRETENDED_DEVICE")
	wanted := 1
	if vendor == "cpu" {
		wanted = 0
	}
	if len(found) != wanted {
		fmt.Printf("RuntimeError: torch finds %d devices, and should find %d\n", len(found), wanted)
		os.Exit(1)
	}
	if strings.HasPrefix(device, "GPU-f") {
		fmt.Println("RuntimeError: CUDA error: no kernel image is available")
		os.Exit(1)
	}
	fmt.Println("ready for jobs")
}
