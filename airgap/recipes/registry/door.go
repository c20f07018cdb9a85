package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
)

const (
	mediaTypeIndex = "application/vnd.oci.image.index.v1+json"
	emptyIndex     = `{"schemaVersion":2,"mediaType":"` + mediaTypeIndex + `","manifests":[]}`
	readOnly       = `{"errors":[{"code":"UNSUPPORTED","message":"this registry is read-only: its images come with a release of the appliance, nobody can push or delete"}]}`
)

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
		engine.ServeHTTP(w, r)
	})
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
