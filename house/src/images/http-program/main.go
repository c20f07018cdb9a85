// Command http-program is a program of somebody else's: it answers HTTP on 127.0.0.1 and knows nothing of what runs it.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sort"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	address := "127.0.0.1:" + os.Getenv("PORT")
	var isHung atomic.Bool
	wait := func() {
		for isHung.Load() {
			time.Sleep(10 * time.Millisecond)
		}
	}
	http.HandleFunc("GET /healthz", func(response http.ResponseWriter, _ *http.Request) {
		wait()
		fmt.Fprintln(response, "fine")
	})
	http.HandleFunc("POST /echo", func(response http.ResponseWriter, request *http.Request) {
		wait()
		response.Header().Set("Content-Type", request.Header.Get("Content-Type"))
		body, _ := io.ReadAll(request.Body)
		fmt.Fprintf(response, "%s %s", request.URL.RequestURI(), body)
	})
	http.HandleFunc("POST /place", func(response http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(response).Encode(place())
	})
	http.HandleFunc("POST /seen", func(response http.ResponseWriter, request *http.Request) {
		names := []string{}
		for name := range request.Header {
			names = append(names, name)
		}
		names = append(names, "Content-Length")
		sort.Strings(names)
		_ = json.NewEncoder(response).Encode(map[string]any{"names": slices.Compact(names)})
	})
	http.HandleFunc("GET /v1/models", func(response http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(response, "own models")
	})
	http.HandleFunc("POST /stream", func(response http.ResponseWriter, _ *http.Request) {
		for piece := range 3 {
			fmt.Fprintln(response, piece)
			response.(http.Flusher).Flush()
			time.Sleep(50 * time.Millisecond)
		}
	})
	http.HandleFunc("POST /hang", func(http.ResponseWriter, *http.Request) { isHung.Store(true) })
	http.HandleFunc("POST /leave", func(http.ResponseWriter, *http.Request) { os.Exit(0) })
	stops := make(chan os.Signal, 1)
	signal.Notify(stops, syscall.SIGTERM)
	go func() {
		<-stops
		fmt.Println("told to stop")
		os.Exit(0)
	}()
	fmt.Println("listens on", address)
	panic(http.ListenAndServe(address, nil))
}

// place is what the program finds where it runs.
func place() map[string]any {
	folder, _ := os.Getwd()
	reached := []string{}
	for _, address := range []string{"1.1.1.1:443", "192.0.2.1:53", "198.18.0.1:22"} {
		if connection, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			connection.Close()
			reached = append(reached, address)
		}
	}
	writable := []string{}
	for _, folder := range []string{"/", "/srv", "/etc", "/rt/job", "/app", "/tmp"} {
		file := filepath.Join(folder, "written")
		if os.WriteFile(file, nil, 0o600) == nil {
			writable = append(writable, folder)
			_ = os.Remove(file)
		}
	}
	return map[string]any{
		"folder": folder, "isRoot": os.Getuid() == 0, "reached": reached, "writable": writable,
		"path": os.Getenv("PATH"), "said": os.Args[1:],
	}
}
