// The manifests that ship: what they wire, and what every function's manifests owe to whoever
// deploys them.
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { metadata } from '../../../functions/metadata/index.ts';
import { passes } from '../../../knative/local/delivery/filter.ts';
import { readKustomization } from '../../../knative/local/manifests/documents.ts';
import { loadWiring } from '../../../knative/local/manifests/load.ts';
import { keyOf } from '../../../knative/local/manifests/wiring.ts';

const REPO = fileURLToPath(new URL('../../../', import.meta.url));
const FUNCTIONS = [metadata];
const wiring = await loadWiring(`${REPO}knative`);

interface Manifest {
  readonly file: string;
  readonly value: {
    readonly kind: string;
    readonly metadata: { readonly name: string };
    // What is looked at differs by kind; the tests below say what they expect there.
    readonly spec?: Readonly<Record<string, never>>;
    readonly rules?: readonly {
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
const services = manifests.filter(({ value }) => value.kind === 'Service');

test('every folder under knative/functions is a function of ours, and the other way round', () => {
  expect(functionNames).toEqual(FUNCTIONS.map(({ name }) => name));
  expect(wiring.functions.map(({ name }) => name)).toEqual(functionNames);
});

test('each file holds one object and is named by its kind', () => {
  const kebab = (kind: string): string => kind.replaceAll(/(?!^)([A-Z])/g, '-$1').toLowerCase();
  for (const { file, value } of manifests) {
    expect(file).toMatch(new RegExp(`/(?:[a-z-]+-)?${kebab(value.kind)}\\.yaml$`));
  }
  expect(new Set(manifests.map(({ file }) => file)).size).toBe(manifests.length);
});

describe.each(FUNCTIONS)('$name', ({ name, wakesOn }) => {
  const triggers = wiring.triggers.filter(
    ({ subscriber }) => 'name' in subscriber && subscriber.name === name,
  );
  const event = (type: string, owner: string) => ({
    attributes: { specversion: '1.0', id: '1', source: '/s', type, ballastfunction: owner },
    data: Buffer.alloc(0),
  });

  test.each(wakesOn)('%s passes exactly one of its triggers', (type) => {
    const matching = triggers.filter(({ filter }) => passes(filter, event(type, name)));
    expect(matching).toHaveLength(1);
  });

  test('events of another function, and types that it does not know, pass none', () => {
    const types = wakesOn.map((type) => event(type, 'another'));
    const unknown = [event('dev.knative.apiserver.resource.add', name), event('', name)];
    for (const other of [...types, ...unknown]) {
      expect(triggers.filter(({ filter }) => passes(filter, other))).toEqual([]);
    }
  });

  test('its sources mark their events as its own', () => {
    const own = [...wiring.sources, ...wiring.pings].filter(({ file }) =>
      file.includes(`/functions/${name}/`),
    );
    expect(own.length).toBeGreaterThan(0);
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
    expect(container?.image).toBe(`ballast.dev/${value.metadata.name}`);
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

test('every delivery waits longer for a function than the function may take', () => {
  const timeouts = new Map(wiring.functions.map((one) => [keyOf(one), one.timeoutSeconds * 1_000]));
  for (const { subscriber, delivery } of wiring.triggers) {
    if (subscriber.kind !== 'Service') throw new Error('a trigger has another subscriber');
    expect(delivery.timeoutMs).toBeGreaterThan(timeouts.get(keyOf(subscriber)) ?? Infinity);
  }
});

test('a source may read the kinds it watches only, and no role holds a wildcard', () => {
  for (const { resources, file } of wiring.sources) {
    const dir = file.slice(0, file.lastIndexOf('/'));
    const role = manifests.find((one) => one.file === `${dir}/source-cluster-role.yaml`);
    const plurals = resources.map(({ kind }) => `${kind.toLowerCase()}s`);
    expect(role?.value.rules).toEqual([
      { apiGroups: [''], resources: plurals, verbs: ['get', 'list', 'watch'] },
    ]);
  }
  for (const { value } of manifests) expect(JSON.stringify(value.rules ?? [])).not.toContain('*');
});
