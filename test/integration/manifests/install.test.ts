// `kubectl apply -k knative`, as it is written in docs/install.md, on the real API server with the
// definitions and the webhooks of the real Knative: nothing is refused, nothing is warned about, a
// second time leaves no difference, and taking it away leaves nothing.
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { knativeNames } from '../../../knative/tools/build/function-names.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { runProgram, type Told } from '../../builders/run-program.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { startWebhooks } from './knative-webhooks.ts';

const REPO = fileURLToPath(new URL('../../..', import.meta.url));
/** Reading the modules for the first time downloads them. */
const NAMESPACE = 'ballast-system';
const PREPARE_MS = 180_000;
/** The containers that Knative's two controllers put beside ours, and that of an adapter. */
const RESTRICTED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

let plane: PlaneAddress;
let kubectl: string;

async function run(args: readonly string[], input = ''): Promise<Told> {
  const all = ['--kubeconfig', plane.kubeconfigPath, ...args];
  const told = await runProgram(kubectl, all, { cwd: REPO, input });
  // kubectl shows the whole patch with a refusal.
  return { ...told, err: told.err.replaceAll(/^\{.*$/gm, '') };
}

async function well(running: Promise<Told>): Promise<Told> {
  const told = await running;
  expect({ status: told.status, err: told.err }).toEqual({ status: 0, err: '' });
  return told;
}

/** As kubectl renders it, which needs no API server. */
async function rendered(dir: string): Promise<readonly Manifest[]> {
  const { out } = await well(run(['kustomize', dir]));
  return [...parseAllDocuments(out)].map((document) => document.toJS() as Manifest);
}

const list = (items: readonly object[]): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

beforeAll(async () => {
  kubectl = await resolvePart('kubectl');
  plane = sharedPlane();
  await startWebhooks(plane);
}, PREPARE_MS);

/** For fifty objects that are there kubectl takes seconds of CPU; others use the machine, too. */
const SLOW = { timeout: 180_000 };

test('one line installs everything, strictly', SLOW, async () => {
  const first = await well(run(['apply', '--validate=strict', '-k', 'knative']));
  const lines = first.out.trim().split('\n');
  expect(lines.filter((line) => !line.endsWith(' created'))).toEqual([]);
  expect(lines).toHaveLength((await rendered('knative')).length);
});

test('Knative refuses what it does not know, and what cannot be', async () => {
  const patch = async (target: string, spec: object): Promise<string> => {
    const body = JSON.stringify({ spec });
    return (await run(['patch', target, '-n', NAMESPACE, '--type=merge', '-p', body])).err;
  };
  expect(await patch('broker/ballast', { delivery: { retires: 6 } })).toContain(
    'unknown field "retires"',
  );
  const late = { template: { spec: { timeoutSeconds: 6_000 } } };
  expect(await patch('ksvc/metadata', late)).toContain('expected 0 <= 6000 <= 600');
});

test('feeds are applied after it, and the NATS for them may be', async () => {
  const told = await well(run(['apply', '--validate=strict', '-k', 'knative/feeds']));
  expect(told.out).toContain('metadatafeed.ballast.dev/cluster created');
  const dry = ['apply', '--validate=strict', '--dry-run=server', '-k', 'knative/nats'];
  expect((await well(run(dry))).out).toContain('natscluster.ballast.dev/nats created');
});

const clusterIn = (namespace: string, kind = 'NatsCluster', name = 'nats'): string =>
  JSON.stringify({
    apiVersion: 'ballast.dev/v1alpha1',
    kind,
    metadata: { name, namespace },
    spec: {},
  });
const AS = '--as=system:serviceaccount:ballast-system:nats-cluster';

/** The output of `npm run -s rights`. */
function rightsIn(namespace: string, functionName = 'nats-cluster'): string {
  const args = ['knative/tools/rights/main.ts', functionName, '-n', namespace];
  return spawnSync(process.execPath, args, { cwd: REPO }).stdout.toString();
}

test(
  'once more, it takes the wide rights of before away and leaves no difference',
  SLOW,
  async () => {
    await well(run(['create', 'namespace', 'shop']));
    await well(run(['create', '-f', '-'], clusterIn('shop')));
    // As it was shipped: every Secret of every namespace.
    const before = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'ballast-nats-cluster' },
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['create', 'get', 'patch'] }],
    };
    await well(run(['apply', '--server-side=false', '-f', '-'], JSON.stringify(before)));
    const may = async (namespace: string): Promise<string> =>
      (await run(['auth', 'can-i', 'get', 'secrets', '-n', namespace, AS])).out.trim();
    await expect.poll(() => may('kube-system')).toBe('yes');

    await well(run(['apply', '-f', '-'], rightsIn('shop')));
    await well(run(['apply', '--validate=strict', '-k', 'knative']));
    // It ends with 1 where there is a difference.
    expect((await well(run(['diff', '-k', 'knative']))).out).toBe('');
    await expect.poll(() => may('kube-system')).toBe('no');
    expect([await may('shop'), await may(NAMESPACE)]).toEqual(['yes', 'no']);
  },
);

describe('the restricted Pod Security standard', () => {
  const pod = (name: string, spec: object) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE },
    spec,
  });
  const deployment = (name: string, spec: object) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      selector: { matchLabels: { name } },
      template: { metadata: { labels: { name } }, spec },
    },
  });
  const create = (...manifests: readonly object[]): Promise<Told> =>
    run(['create', '--dry-run=server', '--validate=strict', '-f', '-'], list(manifests));

  test('admits each pod that Serving makes of a function, without a warning', async () => {
    const services = (await rendered('knative')).filter(({ kind }) => kind === 'Service');
    expect(services.length).toBeGreaterThan(4);
    const made = (services as unknown as readonly Service[]).flatMap(({ metadata, spec }) => {
      const { containerConcurrency: _limit, timeoutSeconds: _bound, ...own } = spec.template.spec;
      const ports = [{ containerPort: 8012, name: 'queue-port' }];
      const proxy = { name: 'queue-proxy', image: 'queue', ports, securityContext: RESTRICTED };
      const probed = own.containers.map(({ readinessProbe: _probe, ...container }) => ({
        ...container,
        // Serving gives the probe the port.
        livenessProbe: { httpGet: { path: '/health/liveness', port: 8080 } },
      }));
      const whole = { ...own, containers: [...probed, proxy] };
      return [pod, deployment].map((make) => make(metadata.name, whole));
    });
    const { out } = await well(create(...made));
    expect(out.trim().split('\n')).toHaveLength(made.length);
  });

  test('admits the pod of a source, without a warning', async () => {
    const containers = [{ name: 'receive-adapter', image: 'a', securityContext: RESTRICTED }];
    const spec = { serviceAccountName: 'metadata-source', containers };
    const { out } = await well(create(pod('adapter', spec), deployment('adapter', spec)));
    expect(out.trim().split('\n')).toHaveLength(2);
  });

  test('would refuse a pod that may do more, and warn of its deployment', async () => {
    const spec = { containers: [{ name: 'a', image: 'a' }] };
    expect((await create(pod('a', spec))).err).toContain('violates PodSecurity "restricted');
    expect((await create(deployment('a', spec))).err).toContain(
      'Warning: would violate PodSecurity',
    );
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

test(
  'the example changes addresses, images, scale and broker, and is applied as well',
  SLOW,
  async () => {
    const objects = await rendered('docs/example');
    const text = JSON.stringify(objects);
    expect(text).not.toMatch(/dev\.local|nats\.ballast-system/);
    const settings = objects.find(({ kind }) => kind === 'ConfigMap');
    const name = settings?.metadata.name ?? '';
    expect(name).toMatch(/^ballast-settings-/);
    const services = objects.filter(({ kind }) => kind === 'Service');
    const named = services.filter((one) => JSON.stringify(one).includes(name));
    expect(named.map(({ metadata }) => metadata.name)).toEqual(await knativeNames());
    // The class of a broker that is there cannot be changed, and event policies need the feature.
    const apply = ['apply', '--validate=strict'];
    const refused = list(objects.filter(({ kind }) => /^(?:Broker|EventPolicy)$/.test(kind)));
    expect((await run([...apply, '-f', '-'], refused)).err).toMatch(
      /Immutable fields changed[^]*oidc-authentication feature not en/,
    );
    await well(run(['delete', 'broker', 'ballast', '-n', NAMESPACE]));
    const features = JSON.stringify({ data: { 'authentication-oidc': 'enabled' } });
    const at = ['configmap', 'config-features', '-n', 'knative-eventing'];
    await well(run(['patch', ...at, '--type=merge', '-p', features]));
    // The webhook reads its settings by a watch.
    await expect
      .poll(() => run([...apply, '--dry-run=server', '-f', '-'], refused), { timeout: 30_000 })
      .toMatchObject({ status: 0, err: '' });
    await well(run([...apply, '-k', 'docs/example']));
    const { out: names } = await well(run(['get', 'eventpolicy', '-n', NAMESPACE, '-o', 'name']));
    expect(names).toContain('eventpolicy.eventing.knative.dev/metadata');
  },
);

test(
  'taking it away ends no NatsCluster and no EtcdCluster, however often: it says which, and how',
  SLOW,
  async () => {
    await well(run(['create', '-f', '-'], clusterIn(NAMESPACE)));
    await well(run(['apply', '-f', '-'], rightsIn(NAMESPACE)));
    await well(run(['create', '-f', '-'], clusterIn('shop', 'EtcdCluster', 'main')));
    await well(run(['apply', '-f', '-'], rightsIn('shop', 'etcd-cluster')));
    const away = ['delete', '--ignore-not-found', '--wait=false', '-k', 'knative'];
    const mayGo = ['delete', 'namespace', NAMESPACE, '--dry-run=server'];
    // A policy holds a moment after it was made.
    await expect.poll(async () => (await run(mayGo)).err).toContain('ballast-system/nats is still');
    const alsoGo = ['delete', 'crd', 'etcdpeers.ballast.dev', '--dry-run=server'];
    await expect.poll(async () => (await run(alsoGo)).err).toContain('shop/main is still');
    for (let again = 0; again < 2; again += 1) {
      const { status, err } = await run(away);
      expect(status).toBe(1);
      // It names one of several.
      expect(err).toMatch(
        /"natsclusters.ballast.dev" is [^\n]*NatsCluster [a-z-]+[/]nats is still/,
      );
      for (const kind of ['etcdclusters', 'etcdpeers']) {
        expect(err).toMatch(new RegExp(`"${kind}.ballast.dev" is [^\n]*EtcdCluster shop/main is`));
      }
      expect(err).toMatch(/kubectl delete etcdcluster -n shop main, and then this again/);
      expect(err).toMatch(/namespaces "ballast-system" is [^\n]*NatsCluster ballast-system[/]nats/);
      expect(err).toMatch(/kubectl delete natscluster -n [a-z-]+ nats, and then this again/);
      const { out } = await well(run(['get', 'natscluster', '-A', '-o', 'name']));
      expect(out.trim().split('\n')).toHaveLength(2);
    }
    // The rest may go, and has gone; where servers are, the namespace is as it was.
    expect((await well(run(['get', 'ksvc', '-A', '-o', 'name']))).out).toBe('');
    const phase = ['get', 'namespace', NAMESPACE, '-o', 'jsonpath={.status.phase}'];
    expect((await well(run(phase))).out).toBe('Active');
  },
);

test('taking it away leaves nothing of it, feeds and clusters first', SLOW, async () => {
  // As docs/install.md says it.
  const page = await readFile(`${REPO}docs/install.md`, 'utf8');
  const [, lines = ''] = /## Remove\n\n```sh\n([^`]*)```/.exec(page) ?? [];
  for (const line of lines.trim().split('\n')) {
    const [program, ...args] = line.replace(/ *#.*/, '').split(' ');
    expect(program).toBe('kubectl');
    const running = run([...args, '--ignore-not-found', '--wait=false']);
    // The test before has taken that definition away.
    if ((await running).err.includes('no matches for kind "MetadataFeed"')) continue;
    await well(running);
  }
  const kinds =
    'crd,clusterrole,clusterrolebinding,flowschema,validatingadmissionpolicy,' +
    'validatingadmissionpolicybinding,role,rolebinding,natscluster,etcdcluster';
  const left = (await run(['get', kinds, '-A', '-o', 'name'])).out.split('\n');
  expect(left.filter((name) => name.includes('ballast'))).toEqual([]);
});
