// The manifests that ship: what they wire, and what every function's manifests owe to whoever
// deploys them.
import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { consolePage } from '../../../functions/console/index.ts';
import { deadLetters } from '../../../functions/dead-letters/index.ts';
import { etcdBackup } from '../../../functions/etcd-backup/index.ts';
import { etcdCluster } from '../../../functions/etcd-cluster/index.ts';
import { etcdPeer } from '../../../functions/etcd-peer/index.ts';
import { etcdRestore } from '../../../functions/etcd-restore/index.ts';
import { locate } from '../../../functions/locate/index.ts';
import { metadata } from '../../../functions/metadata/index.ts';
import { natsCluster } from '../../../functions/nats-cluster/index.ts';
import { storageAudit } from '../../../functions/storage-audit/index.ts';
import { storageMigration } from '../../../functions/storage-migration/index.ts';
import { takeover } from '../../../functions/takeover/index.ts';
import { passes } from '../../../knative/try/local/delivery/filter.ts';
import { readKustomization } from '../../../knative/try/local/manifests/documents.ts';
import { loadWiring } from '../../../knative/try/local/manifests/load.ts';
import { keyOf } from '../../../knative/try/local/manifests/wiring.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { EVERY_TYPE, SWEEP } from '../../../shared/function/sources.ts';
import { BUILT_IN } from '../../../shared/feed/projections/built-in.ts';

const REPO = fileURLToPath(new URL('../../../', import.meta.url));
const FUNCTIONS = [
  consolePage,
  deadLetters,
  etcdBackup,
  etcdCluster,
  etcdPeer,
  etcdRestore,
  locate,
  metadata,
  natsCluster,
  storageAudit,
  storageMigration,
  takeover,
];
const wiring = await loadWiring(`${REPO}knative`);

interface Manifest {
  readonly file: string;
  readonly value: {
    readonly kind: string;
    readonly metadata: { readonly name: string };
    // The fields differ by kind; the tests below say which they expect there.
    readonly spec?: Readonly<Record<string, never>>;
    readonly rules?: readonly {
      readonly apiGroups: readonly string[];
      readonly resources: readonly string[];
      readonly verbs: readonly string[];
    }[];
  };
}

const functionNames = (await readdir(`${REPO}knative/functions`)).toSorted();
const manifests = (
  await Promise.all(
    functionNames.map((name) => readKustomization(REPO, `${REPO}knative/functions/${name}`)),
  )
).flat() as readonly Manifest[];
const imageOf = (name: string): string => `dev.local/ballast/${name}`;
const { images } = parse(await readFile(`${REPO}knative/settings/kustomization.yaml`, 'utf8')) as {
  readonly images: readonly Readonly<Record<'name' | 'newName' | 'newTag', string>>[];
};
/** Those that wake on types, by triggers and sources of their own. */
const wakeful = FUNCTIONS.filter(({ wakesOn }) => !wakesOn.includes(EVERY_TYPE));
const services = manifests.filter(({ value }) => value.kind === 'Service');

test('every folder under knative/functions is a function of ours, and the other way round', () => {
  expect(functionNames).toEqual(FUNCTIONS.map(({ name }) => name));
  expect(wiring.functions.map(({ name }) => name)).toEqual(functionNames);
  expect(images.map(({ name }) => name)).toEqual(functionNames.map(imageOf));
});

test('each file holds one object and is named by its kind', () => {
  const kebab = (kind: string): string => kind.replaceAll(/(?!^)([A-Z])/g, '-$1').toLowerCase();
  for (const { file, value } of manifests) {
    expect(file).toMatch(new RegExp(`/(?:[a-z-]+-)?${kebab(value.kind)}\\.yaml$`));
  }
  expect(new Set(manifests.map(({ file }) => file)).size).toBe(manifests.length);
});

test('every image has the version of this package, and is asked of no registry', () => {
  for (const { newName, newTag } of images) {
    expect(newName).toMatch(/^dev\.local\/ballast\//);
    expect(newTag).toBe(manifest.version);
  }
});

describe.each(wakeful)('$name', ({ name, wakesOn }) => {
  const triggers = wiring.triggers.filter(
    ({ subscriber }) => 'name' in subscriber && subscriber.name === name,
  );
  const event = (type: string, owner: string) => ({
    attributes: { specversion: '1.0', id: '1', source: '/s', type, ballastfunction: owner },
    data: Buffer.alloc(0),
  });

  test.each(wakesOn.filter((type) => type !== SWEEP))('%s passes one of its triggers', (type) => {
    const matching = triggers.filter(({ filter }) => passes(filter, event(type, name)));
    expect(matching).toHaveLength(1);
  });

  test('its sweep needs no broker', () => {
    const pings = wiring.pings.filter(({ file }) => file.includes(`/functions/${name}/`));
    expect(pings).toHaveLength(wakesOn.includes(SWEEP) ? 1 : 0);
    for (const { sink } of pings) expect(sink).toMatchObject({ kind: 'Service', name });
    expect(triggers.filter(({ filter }) => passes(filter, event(SWEEP, name)))).toEqual([]);
  });

  test('events of another function, and types that it does not know, pass none', () => {
    const types = wakesOn.map((type) => event(type, 'another'));
    const unknown = [event('dev.knative.apiserver.ref.add', name), event('', name)];
    for (const other of [...types, ...unknown]) {
      expect(triggers.filter(({ filter }) => passes(filter, other))).toEqual([]);
    }
  });

  test('its sources mark their events as its own', () => {
    const own = [...wiring.sources, ...wiring.pings].filter(({ file }) =>
      file.includes(`/functions/${name}/`),
    );
    expect(own.length > 0).toBe(wakesOn.length > 0);
    for (const { extensions } of own) expect(extensions).toEqual({ ballastfunction: name });
  });
});

describe.each(services)('$file', ({ value }) => {
  const template = (value.spec as unknown as { template: { spec: PodSpec } }).template;
  const { spec: pod } = template;
  const [container] = pod.containers;

  test('meets the restricted pod security standard', () => {
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    });
  });

  test('is probed where the runtime answers, and bounded in memory and time', () => {
    expect(container?.readinessProbe).toEqual({ httpGet: { path: '/health/readiness' } });
    expect(container?.livenessProbe).toEqual({ httpGet: { path: '/health/liveness' } });
    expect(container?.resources).toMatchObject({ limits: { memory: expect.any(String) } });
    const env = Object.fromEntries(container?.env.map((entry) => [entry.name, entry.value]) ?? []);
    expect(Number(env['REQUEST_DEADLINE_SECONDS'])).toBeLessThan(pod.timeoutSeconds);
    expect(Number(env['CONCURRENCY_LIMIT'])).toBe(pod.containerConcurrency);
  });

  test('has an image that a kustomization can name', () => {
    expect(container?.image).toBe(imageOf(value.metadata.name));
  });
});

interface PodSpec {
  readonly timeoutSeconds: number;
  readonly containerConcurrency: number;
  readonly containers: readonly {
    readonly image: string;
    readonly env: readonly { readonly name: string; readonly value: string }[];
    readonly [field: string]: unknown;
  }[];
}

test('what nobody takes goes where a person sees it, from every trigger and broker', () => {
  const seen = { kind: 'Service', namespace: 'ballast-system', name: deadLetters.name };
  for (const { delivery } of [...wiring.triggers, ...wiring.brokers]) {
    expect(delivery.deadLetterSink).toEqual(seen);
  }
});

test('every function may talk to what its policy names, and is reached as all are', () => {
  const policies = new Map(
    manifests.filter(({ value }) => value.kind === 'NetworkPolicy').map((one) => [one.file, one]),
  );
  for (const name of functionNames) {
    const policy = policies.get(`knative/functions/${name}/network-policy.yaml`)?.value;
    const podSelector = { matchLabels: { 'serving.knative.dev/service': name } };
    expect(policy?.spec).toMatchObject({ podSelector, policyTypes: ['Egress'] });
  }
});

/** The API server is no pod: whoever listens on its ports. */
const TO_API = { ports: [port(443), port(6443)] };
/** NATS of this namespace, and of those whose label says that they have some. */
const TO_NATS = {
  to: [
    { podSelector: {} },
    { namespaceSelector: { matchLabels: { 'ballast.dev/has-nats': 'true' } } },
  ],
  ports: [port(4222)],
};
/** Pods with the label, in any namespace. */
const toPodsOf = (key: string, number: number): object => ({
  to: [{ namespaceSelector: {}, podSelector: { matchExpressions: [{ key, operator: 'Exists' }] } }],
  ports: [port(number)],
});
/** Labels that others have as well, so that they are told apart by values. */
const OF_AENIX = {
  to: [
    {
      namespaceSelector: {},
      podSelector: {
        matchLabels: {
          'app.kubernetes.io/managed-by': 'etcd-operator',
          'app.kubernetes.io/name': 'etcd',
        },
      },
    },
  ],
  ports: [port(2379)],
};
const OF_CHART = {
  to: [
    {
      namespaceSelector: {},
      podSelector: {
        matchLabels: {
          'app.kubernetes.io/component': 'nats',
          'app.kubernetes.io/managed-by': 'Helm',
        },
      },
    },
  ],
  ports: [port(8222)],
};
const EGRESS: Readonly<Record<string, readonly object[] | undefined>> = {
  console: [TO_API, TO_NATS],
  'dead-letters': [TO_API],
  'etcd-backup': [TO_API],
  'etcd-cluster': [TO_API, toPodsOf('ballast.dev/etcd-cluster', 2379)],
  'etcd-peer': [TO_API],
  'etcd-restore': [TO_API],
  locate: [TO_NATS],
  metadata: [TO_API, TO_NATS],
  'nats-cluster': [TO_API, toPodsOf('ballast.dev/nats-cluster', 4222)],
  'storage-audit': undefined,
  'storage-migration': [TO_API],
  takeover: [
    TO_API,
    toPodsOf('etcd_cluster', 2379),
    OF_AENIX,
    toPodsOf('etcd.improbable.io/cluster-name', 2379),
    toPodsOf('nats_cluster', 8222),
    OF_CHART,
    toPodsOf('ballast.dev/nats-cluster', 8222),
    toPodsOf('ballast.dev/etcd-cluster', 2379),
  ],
};

function port(number: number): object {
  return { protocol: 'TCP', port: number };
}

test.each(functionNames)('%s is let out to whom it is to talk to, and to nobody else', (name) => {
  const file = `knative/functions/${name}/network-policy.yaml`;
  const spec = manifests.find((one) => one.file === file)?.value.spec;
  expect(EGRESS).toHaveProperty(name);
  expect(spec?.['egress']).toEqual(EGRESS[name]);
});

test('every delivery waits longer for a function than the function may take', () => {
  const timeouts = new Map(wiring.functions.map((one) => [keyOf(one), one.timeoutSeconds * 1_000]));
  for (const { subscriber, delivery } of wiring.triggers) {
    if (subscriber.kind !== 'Service') throw new Error('a trigger has another subscriber');
    expect(delivery.timeoutMs).toBeGreaterThan(timeouts.get(keyOf(subscriber)) ?? Infinity);
  }
});

/** Each group/resource that a role names, with its verbs. */
const granted = (file: string): Readonly<Record<string, readonly string[]>> => {
  const role = manifests.find((one) => one.file === file);
  const entries = (role?.value.rules ?? []).flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.map((one) => [`${group}/${one}`, verbs] as const)),
  );
  return Object.fromEntries(entries);
};

test('a source may read the kinds it watches only, and no role holds a wildcard', () => {
  for (const { resources, file } of wiring.sources) {
    const dir = file.slice(0, file.lastIndexOf('/'));
    const watched = resources.map(({ apiVersion, kind }) => {
      const [, group = ''] = apiVersion.split('/').toReversed();
      return [`${group}/${kind.toLowerCase()}s`, ['get', 'list', 'watch']];
    });
    expect(granted(`${dir}/source-cluster-role.yaml`)).toEqual(Object.fromEntries(watched));
  }
  for (const { value } of manifests) expect(JSON.stringify(value.rules ?? [])).not.toContain('*');
});

const dir = 'knative/functions/metadata';

test('the source of metadata watches the kinds that a feed knows, and the feeds', () => {
  const shown = BUILT_IN.map(({ ref: { group, resource } }) => `${group}/${resource}`);
  const watched = Object.keys(granted(`${dir}/source-cluster-role.yaml`));
  expect(watched.toSorted()).toEqual([...shown, 'ballast.dev/metadatafeeds'].toSorted());
});

test('metadata reads the kinds that a feed knows everywhere, and feeds at home, no more', () => {
  const shown = BUILT_IN.map(({ ref: { group, resource } }) => [
    `${group}/${resource}`,
    ['list', 'watch'],
  ]);
  expect(granted(`${dir}/cluster-role.yaml`)).toEqual(Object.fromEntries(shown));
  expect(granted(`${dir}/role.yaml`)).toEqual({
    'ballast.dev/metadatafeeds': ['list'],
    'ballast.dev/metadatafeeds/status': ['patch'],
  });
});

test('storage-migration reaches no objects but those of a kind that it is given a role for', () => {
  const own = 'knative/functions/storage-migration';
  expect(granted(`${own}/cluster-role.yaml`)).toEqual({
    'ballast.dev/storagemigrations': ['create', 'get', 'list'],
    'ballast.dev/storagemigrations/status': ['patch'],
    'apiextensions.k8s.io/customresourcedefinitions': ['get', 'list'],
  });
  expect(granted(`${own}/role.yaml`)).toEqual({
    'discovery.k8s.io/endpointslices': ['list'],
    '/events': ['create', 'get'],
  });
});

test('a definition comes before its objects, and feeds are looked for where they are', () => {
  const kinds = wiring.objects.map(({ object }) => object.kind);
  expect(kinds[0]).toBe('CustomResourceDefinition');
  expect(kinds.at(-1)).toBe('MetadataFeed');
  const feed = wiring.objects.find(({ object }) => object.kind === 'MetadataFeed');
  const service = wiring.functions.find(({ name }) => name === metadata.name);
  expect(service?.env['FEED_NAMESPACE']).toBe(feed?.object.metadata.namespace);
});
