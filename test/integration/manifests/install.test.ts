// `kubectl apply -k knative`, as it is written in docs/install.md, on the real API server with the
// definitions of the real Knative: every field is known to them, nothing is warned about, a second
// time changes nothing, and taking it away leaves nothing. What Knative's own webhooks say is asked
// on a whole cluster (test/cluster).
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { resolvePart } from '../../../knative/local/parts/resolve.ts';
import { type Plane, startPlane } from '../../../knative/local/plane/plane.ts';
import { openKube } from '../../../shared/kube/client.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { defineKnative } from './knative-definitions.ts';
import { unknownFields } from './unknown-fields.ts';

const REPO = fileURLToPath(new URL('../../..', import.meta.url));
/** Reading the modules for the first time downloads them. */
const PREPARE_MS = 180_000;
/** No schema names it; the feature delivery-timeout is on by default. */
const BEHIND_FEATURES: ReadonlySet<string> = new Set(['spec.delivery.timeout']);
/** What Knative's two controllers put beside our container, and what it is for an adapter. */
const RESTRICTED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

let plane: Plane;
let kubectl: string;
let definitions: readonly Manifest[];

interface Told {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

function run(args: readonly string[], input?: string): Told {
  const all = ['--kubeconfig', plane.kubeconfigPath, ...args];
  const told = spawnSync(kubectl, all, { cwd: REPO, encoding: 'utf8', input });
  return { status: told.status, out: told.stdout, err: told.stderr };
}

const well = (told: Told): Told => {
  expect({ status: told.status, err: told.err }).toEqual({ status: 0, err: '' });
  return told;
};

/** As kubectl renders it, which needs no API server. */
function rendered(dir: string): readonly Manifest[] {
  const { out } = well(run(['kustomize', dir]));
  return [...parseAllDocuments(out)].map((document) => document.toJS() as Manifest);
}

beforeAll(async () => {
  kubectl = await resolvePart('kubectl');
  plane = await startPlane({ parts: ['etcd', 'kube-apiserver'] });
  const { kubeconfigPath } = plane;
  const kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  definitions = await defineKnative(kube);
  await kube.close();
}, PREPARE_MS);

afterAll(async () => {
  await plane?.stop();
});

/** Three times kubectl with some fifty objects, on a machine that does other things as well. */
const SLOW = { timeout: 180_000 };

test('one line installs everything, strictly; a second one changes nothing', SLOW, () => {
  const first = well(run(['apply', '--validate=strict', '-k', 'knative']));
  const lines = first.out.trim().split('\n');
  expect(lines.filter((line) => !line.endsWith(' created'))).toEqual([]);
  expect(lines).toHaveLength(rendered('knative').length);
  well(run(['apply', '--validate=strict', '-k', 'knative']));
  // It ends with 1 where there is a difference.
  expect(well(run(['diff', '-k', 'knative'])).out).toBe('');
});

test('every field of an object of Knative is in the schema of its kind', () => {
  const objects = rendered('knative').filter(({ apiVersion }) => /knative\.dev\//.test(apiVersion));
  expect(objects.length).toBeGreaterThan(12);
  for (const object of objects) {
    const unknown = unknownFields(object, definitions);
    expect(unknown?.filter((field) => !BEHIND_FEATURES.has(field))).toEqual([]);
  }
  const broker = objects.find(({ kind }) => kind === 'Broker');
  const wrong = { ...broker, spec: { delivery: { retires: 6 } } } as unknown as Manifest;
  expect(unknownFields(wrong, definitions)).toEqual(['spec.delivery.retires']);
});

test('feeds are applied after it', () => {
  const told = well(run(['apply', '--validate=strict', '-k', 'knative/feeds']));
  expect(told.out).toContain('metadatafeed.ballast.dev/cluster created');
});

describe('the restricted Pod Security standard', () => {
  const pod = (name: string, spec: object): string =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'ballast-system' },
      spec,
    });
  const deployment = (name: string, spec: object): string =>
    JSON.stringify({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace: 'ballast-system' },
      spec: {
        selector: { matchLabels: { name } },
        template: { metadata: { labels: { name } }, spec },
      },
    });
  const create = (manifest: string): Told =>
    run(['create', '--dry-run=server', '--validate=strict', '-f', '-'], manifest);

  test('admits each pod that Serving makes of a function, without a warning', () => {
    const services = rendered('knative').filter(({ kind }) => kind === 'Service');
    expect(services.length).toBeGreaterThan(4);
    for (const { metadata, spec } of services as unknown as readonly Service[]) {
      const { containerConcurrency: _limit, timeoutSeconds: _bound, ...own } = spec.template.spec;
      const ports = [{ containerPort: 8012, name: 'queue-port' }];
      const proxy = { name: 'queue-proxy', image: 'queue', ports, securityContext: RESTRICTED };
      const probed = own.containers.map(({ readinessProbe: _probe, ...container }) => ({
        ...container,
        // Serving gives the probe the port.
        livenessProbe: { httpGet: { path: '/health/liveness', port: 8080 } },
      }));
      const whole = { ...own, containers: [...probed, proxy] };
      for (const make of [pod, deployment]) well(create(make(metadata.name, whole)));
    }
  });

  test('admits the pod of a source, without a warning', () => {
    const containers = [{ name: 'receive-adapter', image: 'a', securityContext: RESTRICTED }];
    const spec = { serviceAccountName: 'metadata-source', containers };
    const told = [pod, deployment].map((make) => create(make('adapter', spec)));
    expect(told.map(({ status, err }) => [status, err])).toEqual([
      [0, ''],
      [0, ''],
    ]);
  });

  test('would refuse a pod that may do more, and warn of its deployment', () => {
    const spec = { containers: [{ name: 'a', image: 'a' }] };
    expect(create(pod('a', spec)).err).toContain('violates PodSecurity "restricted');
    expect(create(deployment('a', spec)).err).toContain('Warning: would violate PodSecurity');
  });
});

interface Service extends Manifest {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly Readonly<Record<string, unknown>>[];
      } & Readonly<Record<string, unknown>>;
    };
  };
}

test('the example changes addresses, images, scale and broker, and is applied as well', () => {
  const text = JSON.stringify(rendered('docs/example'));
  expect(text).not.toMatch(/dev\.local|nats\.ballast-system/);
  const settings = rendered('docs/example').find(({ kind }) => kind === 'ConfigMap');
  const name = settings?.metadata.name ?? '';
  expect(name).toMatch(/^ballast-settings-/);
  const services = rendered('docs/example').filter(({ kind }) => kind === 'Service');
  const named = services.filter((one) => JSON.stringify(one).includes(name));
  expect(named.map(({ metadata }) => metadata.name)).toEqual([
    'dead-letters',
    'locate',
    'metadata',
    'storage-audit',
    'storage-migration',
  ]);
  // Over an installation of the other kind: a change like any other.
  const told = well(run(['apply', '--validate=strict', '-k', 'docs/example']));
  expect(told.out).toContain('service.serving.knative.dev/metadata configured');
});

test('taking it away leaves nothing of it, the feeds first', () => {
  well(run(['delete', '-k', 'knative/feeds']));
  const told = run(['delete', '--ignore-not-found', '--wait=false', '-k', 'knative']);
  expect([told.status, told.err]).toEqual([0, '']);
  const left = ['crd,clusterrole,clusterrolebinding,flowschema'].flatMap((kinds) =>
    well(run(['get', kinds, '-o', 'name'])).out.split('\n'),
  );
  expect(left.filter((name) => name.includes('ballast'))).toEqual([]);
});
