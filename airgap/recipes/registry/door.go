package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
)

const (
	mediaTypeIndex = "application/vnd.oci.image.index.v1+json"
	emptyIndex     = `{"schemaVersion":2,"mediaType":"` + mediaTypeIndex + `","manifests":[]}`
	readOnly       = `{"errors":[{"code":"UNSUPPORTED","message":"this registry is read-only: its images come with a release of the appliance, nobody can push or delete"}]}`
)

// manifestTypes are those that the engine tells apart. It gives a manifest to whoever names its type, and calls it unknown to everybody else.
var manifestTypes = strings.Join([]string{
	"application/vnd.docker.distribution.manifest.v2+json",
	"application/vnd.docker.distribution.manifest.list.v2+json",
	"application/vnd.oci.image.manifest.v1+json",
	mediaTypeIndex,
}, ", ")

var manifests = regexp.MustCompile(`^/v2/.+/manifests/[^/]+$`)

var referrers = regexp.MustCompile(`^(/v2/.+)/referrers/(sha256:[0-9a-f]{64})$`)

// door answers what the engine has no word for: a push, and who refers to an image. Nothing of ours does.
func door(engine http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Cache-Control", "no-cache")
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			answer(w, r, http.StatusMethodNotAllowed, "application/json", readOnly)
			return
		}
		if found := referrers.FindStringSubmatch(r.URL.Path); found != nil {
			answerReferrers(engine, w, r, found[1]+"/manifests/"+found[2])
			return
		}
		if manifests.MatchString(r.URL.Path) && takesAny(r.Header.Values("Accept")) {
			r = r.Clone(r.Context())
			r.Header.Add("Accept", manifestTypes)
		}
		engine.ServeHTTP(w, r)
	})
}

// takesAny reports whether a client takes manifests of every type (RFC 9110 12.5.1): it names none at all, or a range of all.
func takesAny(accept []string) bool {
	named := false
	for _, list := range accept {
		for _, one := range strings.Split(list, ",") {
			mediaRange, parameters, _ := strings.Cut(one, ";")
			mediaRange = strings.ToLower(strings.TrimSpace(mediaRange))
			if mediaRange == "" {
				continue
			}
			named = true
			if (mediaRange == "*/*" || mediaRange == "application/*") && !isRefused(parameters) {
				return true
			}
		}
	}
	return !named
}

// isRefused reports a weight of zero, by which a client takes what it names least of all: not.
func isRefused(parameters string) bool {
	for _, one := range strings.Split(parameters, ";") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(one)), "=")
		if name == "q" {
			return strings.Trim(value, "0.") == ""
		}
	}
	return false
}

// answerReferrers lists none to whoever may pull the image's repository; everybody else gets the engine's refusal.
func answerReferrers(engine http.Handler, w http.ResponseWriter, r *http.Request, manifest string) {
	asked := r.Clone(r.Context())
	asked.Method = http.MethodGet
	asked.URL.Path = manifest
	asked.URL.RawPath = ""
	asked.RequestURI = manifest
	said := httptest.NewRecorder()
	engine.ServeHTTP(said, asked)
	if said.Code == http.StatusUnauthorized || said.Code == http.StatusForbidden {
		for name, values := range said.Header() {
			w.Header()[name] = values
		}
		answer(w, r, said.Code, said.Header().Get("Content-Type"), said.Body.String())
		return
	}
	answer(w, r, http.StatusOK, mediaTypeIndex, emptyIndex)
}

func answer(w http.ResponseWriter, r *http.Request, status int, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(body))
	}
}
