// The CRD migrator of cluster-api as a program of its own: a manager with that one controller, for
// the one kind that is named by its flags. It runs until it is told to end.
package main

import (
	"flag"
	"fmt"
	"os"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	"sigs.k8s.io/cluster-api/controllers/crdmigrator"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	group := flag.String("group", "", "the API group of the kind")
	version := flag.String("version", "", "its storage version")
	kind := flag.String("kind", "", "its name")
	flag.Parse()
	ctrl.SetLogger(klog.Background())
	gvk := schema.GroupVersionKind{Group: *group, Version: *version, Kind: *kind}
	if err := run(gvk); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(gvk schema.GroupVersionKind) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	// As fast as it can: what is compared is the work, not a limit that somebody chose.
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	migrated := &unstructured.Unstructured{}
	migrated.SetGroupVersionKind(gvk)
	ctx := ctrl.SetupSignalHandler()
	migrator := &crdmigrator.CRDMigrator{
		Client:    manager.GetClient(),
		APIReader: manager.GetAPIReader(),
		// Both versions stay served here, so that there would be nothing to clean up.
		SkipCRDMigrationPhases: []crdmigrator.Phase{crdmigrator.CleanupManagedFieldsPhase},
		Config:                 map[client.Object]crdmigrator.ByObjectConfig{migrated: {}},
	}
	if err := migrator.SetupWithManager(ctx, manager, controller.Options{}); err != nil {
		return err
	}
	return manager.Start(ctx)
}
