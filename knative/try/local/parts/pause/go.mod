module ballast.dev/parts/pause

go 1.26.0
