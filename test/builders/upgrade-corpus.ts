// Upgrades of definitions in the shapes that known projects have had, with objects that exist when
// they come: some safe, some not, some only not because of these objects.
import type { CrdShape, Schema, VersionShape } from './crd-shape.ts';

export interface Upgrade {
  readonly title: string;
  readonly crd: CrdShape;
  /** The definition as it was while the objects were written, one after another. */
  readonly history: readonly Partial<CrdShape>[];
  /** The data of each object, by name, and in which version it is written, at which point. */
  readonly objects: readonly Written[];
  /** As an owner of the CRD wrote them into its status. */
  readonly storedVersions?: readonly string[];
  readonly release: Partial<CrdShape>;
  readonly verdict: 'safe' | 'unsafe' | 'unsafe-objects';
  /** One for each reason, notes among them. */
  readonly whats: readonly string[];
  /** Where the API server alone is asked, and cannot know. */
  readonly verdictOfKube?: 'safe';
}

interface Written {
  readonly name: string;
  readonly version: string;
  /** The index in the history; the first when absent. */
  readonly at?: number;
  readonly data: Schema;
}

const TEXT = { type: 'string' };
const NUMBER = { type: 'integer', format: 'int64' };
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const object = (properties: Schema, more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
});
const top = (spec: Schema, status: Schema = open): Schema => object({ spec, status });
const version = (name: string, schema: Schema, more: object = {}): VersionShape => ({
  name,
  schema,
  ...more,
});
const stored = (name: string, schema: Schema): VersionShape =>
  version(name, schema, { storage: true });
const only = (spec: Schema, status?: Schema): Partial<CrdShape> => ({
  versions: [stored('v1', top(spec, status))],
});

const dns = top(object({ dnsNames: { type: 'array', items: TEXT }, secretName: TEXT }));
const certificates = { group: 'certs.example.io', plural: 'certificates', kind: 'Certificate' };
const both = { versions: [version('v1beta1', dns), stored('v1', dns)] };
const beforeBoth = { versions: [stored('v1beta1', dns), version('v1', dns)] };

const route = top(object({ hostnames: { type: 'array', items: TEXT }, method: TEXT }));
const grpcRoutes = {
  group: 'gateway.networking.k8s.io',
  plural: 'grpcroutes',
  kind: 'GRPCRoute',
  annotations: {
    'api-approved.kubernetes.io': 'https://github.com/kubernetes/enhancements/pull/1',
  },
};

const rules = { type: 'array', items: object({ port: NUMBER, host: TEXT }) };

export const UPGRADES: readonly Upgrade[] = [
  {
    title: 'certificates: the old version goes, and the list still names it',
    crd: { ...certificates, versions: [] },
    history: [beforeBoth, both],
    objects: [{ name: 'web', version: 'v1', data: { spec: { secretName: 'web' } } }],
    release: { versions: [stored('v1', dns)] },
    verdict: 'unsafe',
    whats: ['update-refused', 'version-removed'],
  },
  {
    title: 'issuers: the old version goes, and nothing was ever stored in it',
    crd: { ...certificates, plural: 'issuers', kind: 'Issuer', versions: [] },
    history: [both],
    objects: [{ name: 'web', version: 'v1beta1', data: { spec: { secretName: 'web' } } }],
    release: { versions: [stored('v1', dns)] },
    verdict: 'safe',
    whats: ['version-removed'],
  },
  {
    title: 'clusters: the old version goes, the list was trimmed, an object is left in it',
    crd: { group: 'cluster.example.io', plural: 'clusters', kind: 'Cluster', versions: [] },
    history: [beforeBoth, both],
    objects: [{ name: 'prod', version: 'v1beta1', data: { spec: { secretName: 'kube' } } }],
    storedVersions: ['v1'],
    release: { versions: [stored('v1', dns)] },
    verdict: 'unsafe-objects',
    whats: ['version-removed'],
    verdictOfKube: 'safe',
  },
  {
    title: 'grpcroutes: a group of Kubernetes, where the storage version goes',
    crd: { ...grpcRoutes, versions: [] },
    history: [{ versions: [stored('v1alpha2', route)] }],
    objects: [],
    release: { versions: [stored('v1', route)] },
    verdict: 'unsafe',
    whats: ['storage-flipped', 'update-refused', 'version-removed'],
  },
  {
    title: 'virtualservices: a version comes, and is stored, with the same fields',
    crd: { group: 'mesh.example.io', plural: 'virtualservices', kind: 'VService', versions: [] },
    history: [{ versions: [stored('v1beta1', route)] }],
    objects: [{ name: 'web', version: 'v1beta1', data: { spec: { method: 'GET' } } }],
    release: { versions: [version('v1beta1', route), stored('v1', route)] },
    verdict: 'safe',
    whats: ['storage-flipped'],
  },
  {
    title: 'flows: a version comes, is stored, and has not all fields; nothing converts',
    crd: { group: 'flows.example.io', plural: 'flows', kind: 'Flow', versions: [] },
    history: [{ versions: [stored('v1alpha1', top(object({ agent: TEXT, ebpf: TEXT })))] }],
    objects: [
      { name: 'a', version: 'v1alpha1', data: { spec: { agent: 'x' } } },
      { name: 'b', version: 'v1alpha1', data: { spec: { agent: 'x', ebpf: 'y' } } },
    ],
    release: {
      versions: [
        version('v1alpha1', top(object({ agent: TEXT, ebpf: TEXT }))),
        stored('v1', top(object({ agent: TEXT }))),
      ],
    },
    verdict: 'unsafe-objects',
    whats: ['fields-pruned', 'storage-flipped'],
  },
  {
    title: 'probes: a rule of CEL that one of two objects breaks',
    crd: { group: 'monitoring.example.io', plural: 'probes', kind: 'Probe', versions: [] },
    history: [only(object({ min: NUMBER, max: NUMBER }))],
    objects: [
      { name: 'good', version: 'v1', data: { spec: { min: 1, max: 2 } } },
      { name: 'bad', version: 'v1', data: { spec: { min: 3, max: 2 } } },
    ],
    release: only(
      object(
        { min: NUMBER, max: NUMBER },
        {
          'x-kubernetes-validations': [{ rule: 'self.min <= self.max', message: 'min above max' }],
        },
      ),
    ),
    verdict: 'unsafe-objects',
    whats: ['objects-refused'],
  },
  {
    title: 'monitors: an integer that no number of JavaScript holds, below a limit above that',
    crd: { group: 'monitoring.example.io', plural: 'monitors', kind: 'Monitor', versions: [] },
    history: [only(object({ bytes: NUMBER }))],
    objects: [
      { name: 'm', version: 'v1', data: { spec: { bytes: JSON.rawJSON('9223372036854775807') } } },
    ],
    release: only(object({ bytes: NUMBER, more: TEXT })),
    verdict: 'safe',
    whats: [],
  },
  {
    title: 'workflows: everything was kept, and now the fields are listed',
    crd: { group: 'workflows.example.io', plural: 'workflows', kind: 'Workflow', versions: [] },
    history: [only(open)],
    objects: [
      { name: 'w', version: 'v1', data: { spec: { rules: [{ port: 1, tls: {} }, { port: 2 }] } } },
    ],
    release: only(object({ rules })),
    verdict: 'unsafe-objects',
    whats: ['fields-pruned'],
  },
  {
    title: 'sources: a required field without a default',
    crd: { group: 'sources.example.io', plural: 'sources', kind: 'Source', versions: [] },
    history: [only(object({ url: TEXT, interval: TEXT }))],
    objects: [{ name: 's', version: 'v1', data: { spec: { url: 'u' } } }],
    release: only(object({ url: TEXT, interval: TEXT }, { required: ['interval'] })),
    verdict: 'unsafe-objects',
    whats: ['objects-refused'],
  },
  {
    title: 'buckets: a required field with a default',
    crd: { group: 'sources.example.io', plural: 'buckets', kind: 'Bucket', versions: [] },
    history: [only(object({ url: TEXT, interval: TEXT }))],
    objects: [{ name: 's', version: 'v1', data: { spec: { url: 'u' } } }],
    release: only(
      object(
        { url: TEXT, interval: { type: 'string', default: '1m' } },
        { required: ['interval'] },
      ),
    ),
    verdict: 'safe',
    whats: [],
  },
  {
    title: 'pipelines: a status that its rule refuses',
    crd: { group: 'pipelines.example.io', plural: 'pipelines', kind: 'Pipeline', versions: [] },
    history: [only(open)],
    objects: [{ name: 'p', version: 'v1', data: { spec: {}, status: { phase: 'Odd' } } }],
    release: only(open, object({ phase: { type: 'string', enum: ['Ready'] } })),
    verdict: 'unsafe-objects',
    whats: ['objects-refused'],
  },
  {
    title:
      'claims: an object that is refused today as well, and a field that is lost today as well',
    crd: { group: 'claims.example.io', plural: 'claims', kind: 'Claim', versions: [] },
    history: [
      only(object({ size: NUMBER, old: TEXT })),
      only(object({ size: { ...NUMBER, maximum: 10 } })),
    ],
    objects: [
      { name: 'c', version: 'v1', data: { spec: { size: 11 } } },
      { name: 'd', version: 'v1', data: { spec: { size: 5, old: 'x' } } },
    ],
    release: only(object({ size: { ...NUMBER, maximum: 10 }, more: TEXT })),
    verdict: 'safe',
    whats: ['refused-already'],
  },
  {
    title: 'backups: another scope',
    crd: { group: 'backups.example.io', plural: 'backups', kind: 'Backup', versions: [] },
    history: [only(open)],
    objects: [{ name: 'b', version: 'v1', data: { spec: {} } }],
    release: { ...only(open), scope: 'Cluster' },
    verdict: 'unsafe',
    whats: ['scope-changed', 'update-refused'],
  },
  {
    title: 'topics: another kind',
    crd: { group: 'topics.example.io', plural: 'topics', kind: 'Topic', versions: [] },
    history: [only(open)],
    objects: [],
    release: { ...only(open), kind: 'KafkaTopic' },
    verdict: 'unsafe',
    whats: ['names-changed', 'names-changed', 'names-changed', 'update-refused'],
  },
  {
    title: 'tasks: a rule that is no CEL',
    crd: { group: 'pipelines.example.io', plural: 'tasks', kind: 'Task', versions: [] },
    history: [only(object({ steps: NUMBER }))],
    objects: [{ name: 't', version: 'v1', data: { spec: { steps: 1 } } }],
    release: only(
      object({ steps: NUMBER }, { 'x-kubernetes-validations': [{ rule: 'self.nosuch > 1' }] }),
    ),
    verdict: 'unsafe',
    whats: ['not-checked', 'update-refused'],
  },
  {
    title: 'meshes: a version comes, is stored, and is converted by a webhook that is not there',
    crd: { group: 'mesh.example.io', plural: 'meshes', kind: 'Mesh', versions: [] },
    history: [{ versions: [stored('v1alpha1', route)] }],
    objects: [{ name: 'm', version: 'v1alpha1', data: { spec: { method: 'GET' } } }],
    release: {
      versions: [version('v1alpha1', route), stored('v1', route)],
      conversion: {
        strategy: 'Webhook',
        webhook: {
          clientConfig: { service: { namespace: 'default', name: 'nowhere' } },
          conversionReviewVersions: ['v1'],
        },
      },
    },
    verdict: 'unsafe-objects',
    whats: [
      'conversion-changed',
      'not-checked',
      'storage-flipped',
      'webhook-absent',
      'webhook-absent',
    ],
  },
];
