// StorageMigration in both of its versions, and what differs between them.
package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
)

type AlphaMigration struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              AlphaSpec `json:"spec"`
	Status            *Status   `json:"status,omitempty"`
}

type BetaMigration struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              BetaSpec `json:"spec"`
	Status            *Status  `json:"status,omitempty"`
}

type AlphaSpec struct {
	CommonSpec `json:",inline"`
	Pause      bool `json:"pause"`
}

type BetaSpec struct {
	CommonSpec `json:",inline"`
	Paused     bool `json:"paused"`
}

type CommonSpec struct {
	Resource           Resource `json:"resource"`
	Mode               string   `json:"mode,omitempty"`
	Budget             *Budget  `json:"budget,omitempty"`
	Trim               string   `json:"trim,omitempty"`
	DryRun             bool     `json:"dryRun"`
	Retries            int64    `json:"retries"`
	AcceptedLoss       []string `json:"acceptedLoss,omitempty"`
	Verify             []string `json:"verify,omitempty"`
	CleanManagedFields bool     `json:"cleanManagedFields"`
}

type Resource struct {
	Group    string `json:"group"`
	Resource string `json:"resource"`
}

type Budget struct {
	RequestsPerSecond *int64 `json:"requestsPerSecond,omitempty"`
	Concurrency       int64  `json:"concurrency,omitempty"`
}

type Status struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Phase              string             `json:"phase,omitempty"`
	BlockedIn          string             `json:"blockedIn,omitempty"`
	Target             *Target            `json:"target,omitempty"`
	StoredVersions     []string           `json:"storedVersions,omitempty"`
	SettledAt          *metav1.Time       `json:"settledAt,omitempty"`
	WritesEndAt        *metav1.Time       `json:"writesEndAt,omitempty"`
	Pass               int64              `json:"pass,omitempty"`
	PassStartedAt      *metav1.Time       `json:"passStartedAt,omitempty"`
	Progress           *Progress          `json:"progress,omitempty"`
	Rewritten          int64              `json:"rewritten,omitempty"`
	Cleaned            int64              `json:"cleaned,omitempty"`
	RetriesLeft        int64              `json:"retriesLeft,omitempty"`
	Proof              *Proof             `json:"proof,omitempty"`
	Trimmed            []string           `json:"trimmed,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type Target struct {
	Version            string `json:"version,omitempty"`
	Kind               string `json:"kind,omitempty"`
	DryRun             bool   `json:"dryRun"`
	CrdUID             string `json:"crdUid,omitempty"`
	CrdGeneration      int64  `json:"crdGeneration,omitempty"`
	CrdResourceVersion string `json:"crdResourceVersion,omitempty"`
}

type Progress struct {
	Total     int64  `json:"total"`
	Done      int64  `json:"done"`
	Changed   int64  `json:"changed"`
	Current   int64  `json:"current"`
	Conflicts int64  `json:"conflicts"`
	Gone      int64  `json:"gone"`
	Failed    int64  `json:"failed"`
	PerSecond int64  `json:"perSecond,omitempty"`
	Left      string `json:"left,omitempty"`
}

type Proof struct {
	Oracle          string       `json:"oracle,omitempty"`
	Version         string       `json:"version,omitempty"`
	Objects         int64        `json:"objects"`
	ResourceVersion string       `json:"resourceVersion,omitempty"`
	CrdGeneration   int64        `json:"crdGeneration,omitempty"`
	At              *metav1.Time `json:"at,omitempty"`
}

func (m *AlphaMigration) ConvertTo(hub conversion.Hub) error {
	beta := hub.(*BetaMigration)
	beta.ObjectMeta = m.ObjectMeta
	beta.Spec = BetaSpec{CommonSpec: m.Spec.CommonSpec, Paused: m.Spec.Pause}
	beta.Status = withPhase(m.Status, "Done", "Complete")
	return nil
}

func (m *AlphaMigration) ConvertFrom(hub conversion.Hub) error {
	beta := hub.(*BetaMigration)
	m.ObjectMeta = beta.ObjectMeta
	m.Spec = AlphaSpec{CommonSpec: beta.Spec.CommonSpec, Pause: beta.Spec.Paused}
	m.Status = withPhase(beta.Status, "Complete", "Done")
	return nil
}

func withPhase(status *Status, from, to string) *Status {
	if status != nil && status.Phase == from {
		status.Phase = to
	}
	return status
}

func (*BetaMigration) Hub() {}

// Nothing here copies them.
func (m *AlphaMigration) DeepCopyObject() runtime.Object {
	out := *m
	return &out
}

func (m *BetaMigration) DeepCopyObject() runtime.Object {
	out := *m
	return &out
}
