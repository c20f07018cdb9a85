// Command rt-xattr reads and writes extended attributes of files, for callers that have no getxattr(2).
//
//	rt-xattr get <PATHS >LINES    paths, each ended by a zero byte; one JSON line for each, in their order
//	rt-xattr set <LINES           the same lines; exit 0 once every attribute is set
//
// A line is {"path":"/…","attributes":{"user.name":"<base64>"}}. Attributes of the name space "user" alone are told, and taken. The last part of a
// path is never followed where it is a link. Exit status: 0 done, 1 a file failed, 2 wrong usage.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

const (
	nameSpace  = "user."
	maxPath    = 4096 * 4
	maxLine    = 4 << 20
	exitFailed = 1
	exitUsage  = 2
)

type line struct {
	Path       string            `json:"path"`
	Attributes map[string][]byte `json:"attributes"`
}

func main() {
	if len(os.Args) != 2 {
		usage()
	}
	var err error
	switch os.Args[1] {
	case "get":
		err = get(os.Stdin, os.Stdout)
	case "set":
		err = set(os.Stdin)
	default:
		usage()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "rt-xattr: %v\n", err)
		os.Exit(exitFailed)
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: rt-xattr get|set")
	os.Exit(exitUsage)
}

func get(from io.Reader, to io.Writer) error {
	paths := bufio.NewScanner(from)
	paths.Buffer(make([]byte, 0, maxPath), maxPath)
	paths.Split(splitAtZero)
	out := bufio.NewWriter(to)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for paths.Scan() {
		attributes, err := read(paths.Text())
		if err != nil {
			return err
		}
		if err := encoder.Encode(line{paths.Text(), attributes}); err != nil {
			return err
		}
	}
	if err := paths.Err(); err != nil {
		return err
	}
	return out.Flush()
}

func set(from io.Reader) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		var one line
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return err
		}
		if err := write(one); err != nil {
			return err
		}
	}
	return lines.Err()
}

func read(path string) (map[string][]byte, error) {
	attributes := map[string][]byte{}
	err := opened(path, func(held string) error {
		names, err := whole(func(into []byte) (int, error) { return syscall.Listxattr(held, into) })
		if err != nil {
			return err
		}
		for _, name := range strings.Split(string(names), "\x00") {
			if !strings.HasPrefix(name, nameSpace) {
				continue
			}
			value, err := whole(func(into []byte) (int, error) { return syscall.Getxattr(held, name, into) })
			if err == syscall.ENODATA {
				continue
			}
			if err != nil {
				return err
			}
			attributes[name] = value
		}
		return nil
	})
	return attributes, err
}

func write(one line) error {
	return opened(one.Path, func(held string) error {
		for name, value := range one.Attributes {
			if !strings.HasPrefix(name, nameSpace) {
				return fmt.Errorf("%s is not of the name space %s", name, nameSpace)
			}
			if err := syscall.Setxattr(held, name, value, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// opened gives the work a path of the file that stays the same file, whatever happens to its names meanwhile.
func opened(path string, work func(held string) error) error {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err == nil {
		defer syscall.Close(fd)
		err = work(fmt.Sprintf("/proc/self/fd/%d", fd))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// whole asks for the size first; what grew in between is asked for again.
func whole(ask func(into []byte) (int, error)) ([]byte, error) {
	for {
		size, err := ask(nil)
		if err != nil {
			return nil, err
		}
		if size == 0 {
			return []byte{}, nil
		}
		into := make([]byte, size)
		read, err := ask(into)
		if err == syscall.ERANGE {
			continue
		}
		if err != nil {
			return nil, err
		}
		return into[:read], nil
	}
}

func splitAtZero(data []byte, atEOF bool) (int, []byte, error) {
	if end := bytes.IndexByte(data, 0); end >= 0 {
		return end + 1, data[:end], nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}
