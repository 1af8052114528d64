module ballast.dev/parts/nats-2-1

go 1.26.0

tool github.com/nats-io/nats-server/v2

require (
	github.com/nats-io/jwt v1.1.0 // indirect
	github.com/nats-io/nats-server/v2 v2.1.9 // indirect
	github.com/nats-io/nkeys v0.1.4 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	golang.org/x/crypto v0.0.0-20200323165209-0ec3e9974c59 // indirect
	golang.org/x/sys v0.0.0-20190726091711-fc99dfbffb4e // indirect
)
