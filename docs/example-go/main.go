// The command reader follows a metadata feed, as docs/feed.md says it, and prints what changes, a
// line of JSON each. For each line that it reads it prints all that it holds, with that line.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"github.com/nats-io/nats.go"
)

func main() {
	server := flag.String("url", os.Getenv("NATS_URL"), "nats://user:password@host:port")
	feed := flag.String("feed", "cluster", "the name of the feed")
	node := flag.String("node", "", "read what concerns this node, and not the whole cluster")
	api := flag.String("api", "ballast-api", "what JetStream's API is called in this account")
	flag.Parse()
	out := json.NewEncoder(os.Stdout)
	var shown State
	r := &Reader{
		URL: *server, Feed: *feed, Node: *node, API: *api,
		OnChange: func(change Change) { out.Encode(change) },
		OnState: func(state State) {
			if state.Phase != shown.Phase || state.Why != shown.Why || state.IsStale != shown.IsStale {
				out.Encode(map[string]any{"type": "state", "state": state})
			}
			shown = state
		},
	}
	// What is said to a user comes to inboxes of that user alone.
	if parsed, err := url.Parse(*server); err == nil && parsed.User != nil {
		inbox := "_INBOX." + encode(parsed.User.Username())
		r.Options = append(r.Options, nats.CustomInboxPrefix(inbox))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go answer(r, out)
	r.Run(ctx)
}

func answer(r *Reader, out *json.Encoder) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		r.Look(func(state State, objects map[string]*Object) {
			held := make([]*Object, 0, len(objects))
			for _, object := range objects {
				held = append(held, object)
			}
			out.Encode(map[string]any{"type": "held", "to": lines.Text(), "state": state, "held": held})
		})
	}
}
