// rclone with what an upload of a file into an S3 needs, and nothing of the other storages that it
// knows: their modules would take many minutes to build.
package main

import (
	_ "github.com/rclone/rclone/backend/local"
	_ "github.com/rclone/rclone/backend/s3"
	"github.com/rclone/rclone/cmd"
	_ "github.com/rclone/rclone/cmd/copyto"
)

func main() {
	cmd.Main()
}
