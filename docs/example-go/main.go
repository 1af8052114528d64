// The command reader follows a metadata feed as docs/feed.md says it, and prints what changes and
// how it stands, a line of JSON each.
package main

import (
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
	r := &Reader{URL: *server, Feed: *feed, Node: *node, API: *api}
	r.OnChange = func(change Change) { out.Encode(change) }
	r.OnState = func(state State) { out.Encode(state) }
	// What a user is answered comes to inboxes that are of this user alone.
	if parsed, err := url.Parse(*server); err == nil && parsed.User != nil {
		inbox := "_INBOX." + encode(parsed.User.Username())
		r.Options = append(r.Options, nats.CustomInboxPrefix(inbox))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r.Run(ctx)
}
