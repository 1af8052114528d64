// Lanes: test files that share one control plane and run one after another on it. Each file finds
// the plane as the first one did. A file that kills a part, compacts etcd or needs flags of its own
// is in no lane, and starts its own plane.
import type { CorePart } from '../knative/try/local/plane/plane.ts';

export interface Lane {
  /** The rung that it is a part of, and climbed with. */
  readonly rung: 'contract' | 'integration';
  /** The name of its vitest project. */
  readonly name: string;
  /** Globs, from the top of the repository. */
  readonly include: readonly string[];
  readonly parts: readonly CorePart[];
  /**
   * All that we ship may be applied before the first file; and our kinds, in the first step of
   * their timeline, may convert from the start.
   */
  readonly has: 'nothing' | 'manifests' | 'conversion';
  /** Whether Knative's own kinds are defined before the first file. */
  readonly hasKnative?: boolean;
  /** Whether the API server notes what our functions ask. */
  readonly isAudited: boolean;
}

export const lanes: readonly Lane[] = [
  {
    rung: 'contract',
    name: 'delivery',
    include: [
      'test/contract/delivery/{adapter-events,broker,kustomize,sender-rules,timeline}.test.ts',
    ],
    parts: ['etcd', 'kube-apiserver'],
    has: 'nothing',
    isAudited: false,
  },
  {
    rung: 'integration',
    name: 'kube',
    include: [
      'test/integration/kube/{objects,status,trouble,watch}.test.ts',
      'test/integration/kube/narrow-cache/*.test.ts',
      'test/integration/lanes/put-back.test.ts',
      'test/integration/cluster/{apply-objects,population,try-out}.test.ts',
      'test/integration/manifests/{helm,install,kn}.test.ts',
      'test/integration/storage-audit/audit.test.ts',
    ],
    parts: ['etcd', 'kube-apiserver'],
    has: 'nothing',
    hasKnative: true,
    isAudited: false,
  },
  {
    rung: 'integration',
    name: 'conversion',
    include: ['test/integration/conversion/*.test.ts'],
    parts: ['etcd', 'kube-apiserver'],
    has: 'conversion',
    isAudited: false,
  },
  {
    rung: 'integration',
    name: 'migration',
    include: [
      'test/integration/api/*.test.ts',
      'test/integration/migration/{changes,clean,conversion,crd,killed,kinds}.test.ts',
      'test/integration/migration/{late,lifecycle,refused,spec,webhook}.test.ts',
      'test/integration/{etcd-cluster,etcd-peer,nats-cluster}/crd.test.ts',
      'test/integration/{etcd-backup,etcd-restore,takeover}/*crd.test.ts',
      'test/integration/etcd-peer/writers.test.ts',
      'test/integration/storage-audit/{against,netobserv}.test.ts',
    ],
    parts: ['etcd', 'kube-apiserver'],
    has: 'manifests',
    isAudited: false,
  },
  {
    rung: 'integration',
    name: 'manifests',
    include: [
      'test/integration/manifests/{dead-letters,rights}.test.ts',
      'test/integration/manifests/taken-over{,-backup,-etcd,-peer,-restore}.test.ts',
      'test/integration/manifests/taken-over{-schedule,-takeover}.test.ts',
      'test/integration/manifests/taken-over-takeover-{aenix,chart,improbable}.test.ts',
      'test/integration/manifests/taken-over-takeover-{kept,nats,secrets}.test.ts',
      'test/integration/takeover/{nats,takeover}.test.ts',
    ],
    parts: ['etcd', 'kube-apiserver', 'nats-server'],
    has: 'manifests',
    isAudited: true,
  },
  {
    rung: 'integration',
    name: 'feed',
    include: [
      'test/integration/feed/{crd,epochs,forged,function}.test.ts',
      'test/integration/feed/{one-server-killed,questions,reviewed,spec}.test.ts',
      'test/integration/feed/{not-swept,strays}.test.ts',
      'test/integration/console/*.test.ts',
      'test/integration/lanes/streams.test.ts',
    ],
    parts: ['etcd', 'kube-apiserver', 'nats-server'],
    has: 'manifests',
    isAudited: false,
  },
];
