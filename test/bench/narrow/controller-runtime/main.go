// A peer of P11: reads ConfigMaps and Secrets as a controller-runtime manager does, through its
// cache, which lists and watches every object of the kind. Says on its output when it has seen what
// it is asked for.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const pollInterval = 20 * time.Millisecond

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	objects, err := cache.New(config, cache.Options{Scheme: scheme.Scheme})
	must(err)
	ctx := context.Background()
	// What the first read of a kind does in a manager.
	for _, kind := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}} {
		_, err := objects.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		must(err)
	}
	go func() { must(objects.Start(ctx)) }()
	if !objects.WaitForCacheSync(ctx) {
		must(errors.New("the cache did not sync"))
	}
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var name, turn string
		var least int
		_, err := fmt.Sscan(lines.Text(), &name, &turn, &least)
		must(err)
		for turnOf(ctx, objects, name) != turn || count(ctx, objects) < least {
			time.Sleep(pollInterval)
		}
		fmt.Println("seen")
	}
}

func turnOf(ctx context.Context, objects client.Reader, name string) string {
	object := corev1.ConfigMap{}
	must(objects.Get(ctx, types.NamespacedName{Namespace: "default", Name: name}, &object))
	return object.Data["turn"]
}

// count copies no object: the copies would be counted as the cache's own memory.
func count(ctx context.Context, objects client.Reader) int {
	maps, secrets := corev1.ConfigMapList{}, corev1.SecretList{}
	must(objects.List(ctx, &maps, client.UnsafeDisableDeepCopy))
	must(objects.List(ctx, &secrets, client.UnsafeDisableDeepCopy))
	return len(maps.Items) + len(secrets.Items)
}

func must(err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, strings.TrimSpace(err.Error()))
	os.Exit(1)
}
