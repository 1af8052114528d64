// The conversion webhook of controller-runtime for StorageMigration, as a program of its own: typed
// versions, v1beta1 as the hub. It answers with TLS and without, and says how many reviews it has
// answered.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

const group = "ballast.dev"

func main() {
	plain := flag.String("plain", "", "where to listen without TLS")
	secure := flag.String("secure", "", "where to listen with TLS")
	certificate := flag.String("certificate", "", "its file")
	key := flag.String("key", "", "the file of its key")
	flag.Parse()
	if err := run(*plain, *secure, *certificate, *key); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(plain, secure, certificate, key string) error {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(kindIn("v1alpha1"), &AlphaMigration{})
	scheme.AddKnownTypeWithName(kindIn("v1beta1"), &BetaMigration{})
	handler := conversion.NewWebhookHandler(scheme, conversion.NewRegistry())
	var reviews atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/convert", func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		reviews.Add(1)
	})
	mux.HandleFunc("/reviews", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, reviews.Load())
	})
	ended := make(chan error, 2)
	go func() { ended <- http.ListenAndServe(plain, mux) }()
	go func() { ended <- http.ListenAndServeTLS(secure, certificate, key, mux) }()
	return <-ended
}

func kindIn(version string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: version, Kind: "StorageMigration"}
}
